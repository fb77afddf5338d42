"""Finished answers, compressed, under the key that names their content: the one result cache.

A `ResultStore` is asked with a key of `loader.keys`. A value never changes under its key, so nothing is ever
invalidated: a replaced file has another key. Values are kept as one header and one zstd body; they are read
and written in pieces, so that no process holds a large answer in memory. Losing a store loses only time.
"""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
import struct
import threading
import time
import uuid
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from loader.errors import ErrorCode, LoaderError

PIECE_BYTES = 1 << 20
_LENGTH = struct.Struct(">I")
_HEADER_LIMIT = 1 << 20
_MEDIA_TYPE = re.compile(r"[a-z]+/[a-z0-9.+-]+")
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class StoredError:
    """A failure that is remembered for a short time instead of an answer."""

    code: str
    message: str
    file: str | None

    def as_error(self) -> LoaderError:
        """The error to raise again."""
        return LoaderError(ErrorCode(self.code), self.message, self.file)


@dataclass(frozen=True)
class ResultHeader:
    """What is known of an answer besides its bytes.

    Attributes:
        content_type: media type of the uncompressed body.
        size: bytes of the zstd body.
        raw_size: bytes after decompression.
        warnings: sentences for the person who reads the answer, e.g. that a host is left out.
        error: set when the key stands for a failure; the body is then empty.
        digest: hex SHA-256 of the zstd body, so that a reader may go on with another copy of it.
        is_final: False when the answer is to be made again soon: it is kept as long as a failure.
    """

    content_type: str
    size: int
    raw_size: int
    warnings: tuple[str, ...] = ()
    error: StoredError | None = None
    digest: str = ""
    is_final: bool = True

    def to_bytes(self) -> bytes:
        """Length-prefixed JSON."""
        text = json.dumps(asdict(self)).encode()
        return _LENGTH.pack(len(text)) + text

    @classmethod
    def from_json(cls, text: bytes) -> ResultHeader:
        """The header written by `to_bytes`, without its length.

        Raises:
            ValueError: the text is not such a header.
        """
        try:
            fields = json.loads(text)
            error = fields.pop("error")
            fields["warnings"] = tuple(fields["warnings"])
            header = cls(**fields, error=StoredError(**error) if error else None)
        except (KeyError, TypeError, AttributeError, RecursionError) as problem:
            raise ValueError(f"not a result header: {problem}") from problem
        header._require_sense()
        return header

    def _require_sense(self) -> None:
        """Stores are shared: what somebody else wrote there must not fail whoever reads it, or only later.

        Raises:
            ValueError: a field is not what it is declared to be.
        """
        texts = [self.content_type, self.digest, *self.warnings]
        if self.error is not None:
            ErrorCode(self.error.code)
            texts += [self.error.message, self.error.file or ""]
        is_text = all(isinstance(text, str) for text in texts)
        is_size = all(type(size) is int and size >= 0 for size in (self.size, self.raw_size))
        if not (is_text and is_size and _MEDIA_TYPE.fullmatch(self.content_type)):
            raise ValueError("not a result header: a field holds something else")


@dataclass(frozen=True)
class OpenResult:
    """One answer, ready to be read once.

    Attributes:
        header: what is known of it.
        pieces: the zstd body in pieces of about `PIECE_BYTES`; closing the iterator frees what it holds.
    """

    header: ResultHeader
    pieces: Iterator[bytes]


class ResultStore(Protocol):
    """A place for answers. A store that is out of order answers None and forgets what it is given."""

    def open(self, key: str) -> OpenResult | None:
        """The answer under the key, or None."""

    def contains(self, key: str) -> bool:
        """Whether `open` would find something."""

    def put(self, key: str, header: ResultHeader, body: Path | None, ttl_seconds: int) -> None:
        """Keeps an answer for a time; `body` is a file of `header.size` bytes, None when there is none.

        A failure never takes the place of an answer, and an answer always takes that of a failure.
        """


def read_header(source: BinaryIO) -> ResultHeader:
    """Reads the header that starts a stored value.

    Raises:
        ValueError: the value is damaged.
    """
    prefix = source.read(_LENGTH.size)
    if len(prefix) < _LENGTH.size:
        raise ValueError("a stored result is shorter than its header")
    (length,) = _LENGTH.unpack(prefix)
    text = source.read(min(length, _HEADER_LIMIT))
    if len(text) != length:
        raise ValueError("a stored result ends inside its header")
    return ResultHeader.from_json(text)


class FilePieces(Iterator[bytes]):
    """The rest of an open file in pieces; closes it at the end, or when told to."""

    def __init__(self, source: BinaryIO) -> None:
        self._source = source

    def __next__(self) -> bytes:
        """The next piece."""
        piece = b"" if self._source.closed else self._source.read(PIECE_BYTES)
        if not piece:
            self.close()
            raise StopIteration
        return piece

    def close(self) -> None:
        """Closes the file."""
        self._source.close()


class DirectoryResults:
    """Answers in a directory, least recently used ones removed above a size.

    Several processes may share the directory: values appear by atomic rename, and a value that is removed
    while it is read stays readable for its reader.
    """

    def __init__(
        self, directory: Path, max_bytes: int, clock: Callable[[], float] = time.time
    ) -> None:
        self._directory = directory
        self._max_bytes = max_bytes
        self._clock = clock
        self._lock = threading.Lock()
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._bytes = sum(size for _, size, _ in self._entries())

    def open(self, key: str) -> OpenResult | None:
        """The answer under the key, or None when there is none or its time is over."""
        path = self._path(key)
        try:
            with ExitStack() as unless_found:
                source = unless_found.enter_context(path.open("rb"))
                header = self._read_header(source)
                if header is None:
                    path.unlink(missing_ok=True)
                    return None
                now = self._clock()
                os.utime(source.fileno(), (now, now))
                unless_found.pop_all()
                return OpenResult(header, FilePieces(source))
        except FileNotFoundError:
            return None
        except OSError as problem:
            logger.warning("a result could not be read: %s", problem)
            return None

    def _read_header(self, source: BinaryIO) -> ResultHeader | None:
        """The header of a value, unless it is damaged or its time is over."""
        try:
            (expires,) = struct.unpack(">d", source.read(8))
            header = read_header(source)
        except (ValueError, struct.error):
            return None
        is_complete = os.fstat(source.fileno()).st_size == source.tell() + header.size
        return header if is_complete and expires >= self._clock() else None

    def contains(self, key: str) -> bool:
        """Whether there is an answer under the key."""
        found = self.open(key)
        if found is None:
            return False
        close_pieces(found)
        return True

    def put(self, key: str, header: ResultHeader, body: Path | None, ttl_seconds: int) -> None:
        """Writes the value beside its place, then renames it into place; a full disk keeps nothing."""
        if header.error is not None and self._holds_answer(key):
            return
        try:
            written = self._write(self._path(key), header, body, ttl_seconds)
            with self._lock:
                self._bytes += written
                if self._bytes > self._max_bytes:
                    self._make_room()
        except OSError as problem:
            logger.error("a result could not be kept: %s", problem)

    def _holds_answer(self, key: str) -> bool:
        found = self.open(key)
        if found is None:
            return False
        close_pieces(found)
        return found.header.error is None

    def _write(self, path: Path, header: ResultHeader, body: Path | None, ttl_seconds: int) -> int:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft = path.with_name(f".{uuid.uuid4().hex}.draft")
        try:
            with draft.open("wb") as target:
                target.write(struct.pack(">d", self._clock() + ttl_seconds) + header.to_bytes())
                if body is not None:
                    with body.open("rb") as source:
                        shutil.copyfileobj(source, target, PIECE_BYTES)
                written = target.tell()
            os.utime(draft, (self._clock(), self._clock()))
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
        return written

    def copy_to(self, store: ResultStore, key: str) -> None:
        """Puts an answer into another store, for the time that it has left; nothing if there is none.

        Raises:
            OSError: the disk is full, or can't be read.
        """
        found = self.open(key)
        if found is None:
            return
        draft = self._path(key).with_name(f".{uuid.uuid4().hex}.draft")
        try:
            with self._path(key).open("rb") as source:
                (expires,) = struct.unpack(">d", source.read(8))
            with draft.open("wb") as target:
                target.writelines(found.pieces)
            seconds = int(expires - self._clock())
            if seconds > 0:
                store.put(key, found.header, draft, seconds)
        finally:
            close_pieces(found)
            draft.unlink(missing_ok=True)

    def forget(self, marks: Collection[str]) -> int:
        """Removes the answers of these sessions; see `loader.caches.forgetting.Forgets`.

        Raises:
            LoaderError: STORAGE_UNAVAILABLE.
        """
        count = 0
        try:
            for mark in marks:
                for path in self._path(mark).parent.glob(f"{mark}*"):
                    path.unlink(missing_ok=True)
                    count += 1
        except OSError as problem:
            raise LoaderError(
                ErrorCode.STORAGE_UNAVAILABLE, "Cached answers could not be removed."
            ) from problem
        return count

    def _path(self, key: str) -> Path:
        return self._directory / key[:2] / key

    def _entries(self) -> list[tuple[float, int, Path]]:
        """(last use, size, path) of every value."""
        entries = []
        for path in self._directory.glob("??/*"):
            try:
                status = path.stat()
            except FileNotFoundError:
                continue
            entries.append((status.st_mtime, status.st_size, path))
        return entries

    def give_way(self, size: int) -> None:
        """Removes least recently used values of so many bytes, for what needs the disk more.

        None, where all together have fewer.
        """
        with self._lock:
            total = sum(size for _, size, _ in self._entries())
            if total >= size:
                self._shrink_to(total - size)

    def _make_room(self) -> None:
        """Removes values until a tenth of the space is free."""
        self._shrink_to(self._max_bytes * 0.9)

    def _shrink_to(self, most: float) -> None:
        """Removes least recently used values until so many bytes are left."""
        entries = sorted(self._entries())
        total = sum(size for _, size, _ in entries)
        for _, size, path in entries:
            if total <= most:
                break
            path.unlink(missing_ok=True)
            total -= size
        self._bytes = total


def close_pieces(result: OpenResult) -> None:
    """Frees what an answer holds open without reading it."""
    close = getattr(result.pieces, "close", None)
    if close is not None:
        close()


def answer_or_raise(result: OpenResult) -> OpenResult:
    """The answer, or the failure that was remembered in its place.

    Raises:
        LoaderError: the remembered failure.
    """
    if result.header.error is not None:
        raise result.header.error.as_error()
    return result


class TieredResults:
    """A near store in front of a shared one; what the far one holds is not copied to the near one."""

    def __init__(self, near: ResultStore, far: ResultStore) -> None:
        self._near = near
        self._far = far

    def open(self, key: str) -> OpenResult | None:
        """The nearest answer."""
        return self._near.open(key) or self._far.open(key)

    def contains(self, key: str) -> bool:
        """Whether one of the two has it."""
        return self._near.contains(key) or self._far.contains(key)

    def put(self, key: str, header: ResultHeader, body: Path | None, ttl_seconds: int) -> None:
        """Keeps the answer in both."""
        self._near.put(key, header, body, ttl_seconds)
        self._far.put(key, header, body, ttl_seconds)
