"""Writes the redacted copy of one profile: what XProf computes with stays, every text becomes a pseudonym.

Nothing is passed on byte for byte. Each part is read with a schema that has only the fields which a redacted
profile may have (`loader.redaction.schema`), its texts are replaced, and it is written anew; so what this
version does not know can't be in the copy. Takes memory for one part at a time: an entry of metadata, an HLO
module, a piece of a line.
"""

from __future__ import annotations

import io
import mmap
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import BinaryIO

from google.protobuf.message import DecodeError, Message

from loader.inspection.events import forget, jump
from loader.inspection.limits import InspectionLimits
from loader.inspection.refusals import cut_off, unreadable
from loader.inspection.wire import Walker, WireError
from loader.inspection.wire_writing import PADDED_BYTES, block, field, number, padded
from loader.redaction.parts import PartWriter, check_size
from loader.redaction.pseudonyms import Pseudonyms
from loader.redaction.schema import parse, written
from loader.redaction.texts import BINARY, TextReplacer

# XSpace, XPlane, XLine (XLA's tsl/profiler/protobuf/xplane.proto)
_PLANE, _HOSTNAME = 0x0A, 0x22
_PLANE_ID, _PLANE_NAME, _LINE, _EVENT_METADATA, _STAT_METADATA, _STAT = (
    *(0x08, 0x12),
    *(0x1A, 0x22, 0x2A, 0x32),
)
_EVENT = 0x22

_HLO_STATS = frozenset({b"Hlo Proto", b"hlo_proto"})
_NUMBERS_ONLY = {b"memory_access_breakdown": "MemoryAccessBreakdown"}
_CORE_DETAILS = b"core_details"
_NO_MESSAGE = b"\x0a"
"""In place of HLO that can't be read: it can't be read either, and so counts as what it was."""

_PIECE = 1 << 20
_LONGEST_JUMP = (1 << 14) + 3


def redact_profile(
    source: Path, target: Path, host: str, pseudonyms: Pseudonyms, limits: InspectionLimits
) -> None:
    """Writes the copy.

    Args:
        source: a profile that the inspection has let through, as the engine would read it.
        target: where nothing is yet.
        host: what the file's host is called, which may be shown.
        pseudonyms: replaces texts.
        limits: those of the inspection.

    Raises:
        LoaderError: MALFORMED, a part of the profile can't be read, or TOO_LARGE; says nothing of what is in
            it.
        OSError: a file can't be read or written.
    """
    with source.open("rb") as stream, target.open("xb", buffering=_PIECE) as out:
        if stream.seek(0, 2) == 0:
            raise cut_off("it is empty")
        with closing(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)) as data:
            try:
                _Copy(data, out, host, pseudonyms, limits).write()
            except (WireError, DecodeError) as problem:
                raise unreadable("a part of it is damaged") from problem


class _Copy:
    """One copy under way."""

    def __init__(
        self,
        data: mmap.mmap,
        out: BinaryIO,
        host: str,
        pseudonyms: Pseudonyms,
        limits: InspectionLimits,
    ) -> None:
        self._data = data
        self._out = out
        self._host = host.encode()
        self._replace = pseudonyms.encoded
        self._walker = Walker(data, limits.fields)
        self._replacer = TextReplacer(pseudonyms.encoded, self._binary_stat)
        self._parts = PartWriter(self._replacer)
        self._stats: dict[int, bytes] = {}

    def write(self) -> None:
        """Writes all of it."""
        for tag, first, last in self._walker.fields(0, len(self._data)):
            if tag == _PLANE:
                with self._block(_PLANE, last - first):
                    self._plane(first, last)
            elif tag == _HOSTNAME:
                self._out.write(block(_HOSTNAME, self._hostname(self._data[first:last])))

    def _plane(self, start: int, end: int) -> None:
        self._stats = self._stat_names(start, end)
        for tag, first, last in self._walker.fields(start, end):
            if tag == _LINE:
                with self._block(_LINE, last - first):
                    self._line(first, last)
            elif tag == _PLANE_NAME:
                self._out.write(block(tag, self._replace(self._data[first:last])))
            elif tag == _PLANE_ID:
                self._out.write(number(tag, first))
            elif tag == _EVENT_METADATA:
                self._part(tag, "EventMetadataEntry", first, last)
            elif tag == _STAT_METADATA:
                self._part(tag, "StatMetadataEntry", first, last)
            elif tag == _STAT:
                self._part(tag, "Stat", first, last)

    def _part(self, tag: int, kind: str, first: int, last: int) -> None:
        self._out.write(block(tag, self._parts.rewrite(kind, self._data[first:last])))

    def _stat_names(self, start: int, end: int) -> dict[int, bytes]:
        """Those of the plane's stats whose bytes can be kept, by id."""
        names: dict[int, bytes] = {}
        for first, last in self._walker.inside(start, end, (_STAT_METADATA,)):
            entry = parse("StatMetadataEntry", self._data[first:last])
            key, name = _entry(entry)
            names.pop(key, None)
            if name in _HLO_STATS or name in _NUMBERS_ONLY or name == _CORE_DETAILS:
                names[key] = name
        return names

    def _line(self, start: int, end: int) -> None:
        """Head and events of a line; events that follow each other go together."""
        position = start
        while position < end:
            for tag, first, last in self._walker.fields(position, end):
                if tag == _EVENT:
                    check_size(last - first)
                    events = [block(_EVENT, self._data[first:last])]
                    position = last
                    if last - first < _PIECE:
                        position = self._run(last, end)
                        events.append(self._data[last:position])
                    self._events(b"".join(events))
                    forget(self._data, first, position)
                    break
                head = number(tag, first) if tag & 7 == 0 else field(tag, self._data[first:last])
                self._out.write(written(self._replacer.apply(parse("LineHead", head))))
            else:
                return

    def _run(self, start: int, end: int) -> int:
        """Where a run of events ends that begins at the start, or a piece of it."""
        most = min(end - start, _PIECE)
        piece = self._data[start : start + most + _LONGEST_JUMP] + bytes(3)
        position, _ = jump(piece, 0, most)
        if start + position > end:
            raise unreadable("a plane in it is damaged")
        return start + position

    def _events(self, data: bytes) -> None:
        """Writes events; nearly always none of them holds a text, and then none is looked at."""
        plain = written(parse("PlainEvents", data))
        if len(plain) < len(data):
            plain = written(self._replacer.apply(parse("Events", data)))
        self._out.write(plain)

    def _binary_stat(self, stat: Message) -> None:
        """Redacts what a stat's bytes are known to be, and removes them otherwise."""
        name, raw = self._stats.get(stat.id), getattr(stat, BINARY)
        if name in _HLO_STATS:
            setattr(stat, BINARY, self._hlo(raw))
        elif name == _CORE_DETAILS:
            setattr(stat, BINARY, self._core_details(raw))
        elif name in _NUMBERS_ONLY:
            setattr(stat, BINARY, self._numbers(_NUMBERS_ONLY[name], raw))
        else:
            stat.ClearField(BINARY)

    def _hlo(self, raw: bytes) -> bytes:
        try:
            return self._parts.rewrite("Hlo", raw)
        except (DecodeError, WireError):
            return _NO_MESSAGE

    def _numbers(self, kind: str, raw: bytes) -> bytes:
        try:
            return self._parts.rewrite(kind, raw)
        except DecodeError:
            return b""

    def _core_details(self, raw: bytes) -> bytes:
        try:
            details = parse("CoreDetails", raw)
        except DecodeError:
            return b""
        if details.HasField("hostname"):
            details.hostname = self._hostname(details.hostname)
        return written(details)

    def _hostname(self, raw: bytes) -> bytes:
        """The host's own name, which whoever has the link sees anyway; another one is a text like any."""
        return raw if raw == self._host else self._replace(raw)

    @contextmanager
    def _block(self, tag: int, size: int) -> Iterator[None]:
        """Makes a message of what is written meanwhile; a large one has its length filled in afterwards."""
        outer = self._out
        if size <= _PIECE:
            self._out = inner = io.BytesIO()
            yield
            self._out = outer
            outer.write(block(tag, inner.getvalue()))
            return
        outer.write(bytes((tag,)) + bytes(PADDED_BYTES))
        begin = outer.tell()
        yield
        end = outer.tell()
        outer.seek(begin - PADDED_BYTES)
        outer.write(padded(end - begin))
        outer.seek(end)


def _entry(entry: Message) -> tuple[int, bytes]:
    """Key and name of an entry of stat metadata."""
    return int(entry.key), bytes(entry.value.name)
