"""Unpacking a gzip-compressed profile onto disk, up to a bound.

A gzip file of a megabyte can become a gigabyte, so the bound is kept while unpacking, not after it. Works in
pieces; what it writes is the caller's to remove.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from loader.inspection.refusals import cut_off, too_large, unreadable

_MAGIC = b"\x1f\x8b"
_GZIP_WINDOW = 31  # zlib's way of saying: gzip's header and checksum, largest window
_READ_BYTES = 1 << 16
_PIECE = 1 << 18
_MOST_MEMBERS = 100_000
"""Members that hold next to nothing would cost time without end; block-wise gzip has 32,000 for 2 GiB."""


def is_gzip(path: Path) -> bool:
    """Whether a file starts like gzip."""
    with path.open("rb") as stream:
        return stream.read(len(_MAGIC)) == _MAGIC


def unpack_gzip(source: Path, target: Path, most_bytes: int) -> tuple[str, ...]:
    """Writes what a gzip file holds, all its members, to a new file.

    Returns:
        Warnings: what stands behind the compressed data and was left out.

    Raises:
        CutOffError: it ends too early.
        LoaderError: MALFORMED when it is damaged, TOO_LARGE when it holds more than `most_bytes`.
        OSError: when a file can't be read or written.
    """
    total = 0
    members = _Members()
    with source.open("rb") as packed, target.open("xb") as plain:
        for piece in members.unpack(packed):
            total += len(piece)
            if total > most_bytes:
                raise too_large(
                    f"unpacked, it has more than {most_bytes:,} bytes", "XPROF_HUB_UNPACKED_BYTES"
                )
            plain.write(piece)
    if not members.has_rest:
        return ()
    return ("Bytes behind the end of the gzip data were ignored.",)


class _Members:
    """The members of a gzip file, one after the other.

    Attributes:
        has_rest: whether something else than a member, or padding, stands behind the last one.
    """

    def __init__(self) -> None:
        self.has_rest = False

    def unpack(self, packed: BinaryIO) -> Iterator[bytes]:
        """What they hold, in pieces of bounded length."""
        waiting = packed.read(_READ_BYTES)
        for _ in range(_MOST_MEMBERS):
            member = zlib.decompressobj(_GZIP_WINDOW)
            while not member.eof:
                try:
                    piece = member.decompress(waiting, _PIECE)
                except zlib.error as problem:
                    raise unreadable("its gzip data is damaged") from problem
                yield piece
                waiting = member.unconsumed_tail
                if not waiting and not member.eof:
                    waiting = packed.read(_READ_BYTES)
                    if not waiting and not piece:
                        raise cut_off("its gzip data ends too early")
            waiting = _next_member(member.unused_data, packed)
            if not waiting.startswith(_MAGIC):
                self.has_rest = bool(waiting)
                return
        raise too_large(f"its gzip data has more than {_MOST_MEMBERS:,} members")


def _next_member(rest: bytes, packed: BinaryIO) -> bytes:
    """What follows a member, zeros skipped: they are padding. Enough of it to be recognised."""
    while len(rest := rest.lstrip(b"\0")) < len(_MAGIC):
        more = packed.read(_READ_BYTES)
        if not more:
            break
        rest += more
    return rest
