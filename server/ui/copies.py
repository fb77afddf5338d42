"""Small copies of static files, made once and kept in a directory.

The best compression takes seconds for XProf's scripts, so `make_copies` does it ahead of time: at the image's
build, when `make` installs, or in a process of low priority beside a server that lacks them
(`server.asset_copies`). Until then a file is compressed fast when a browser first asks for it. A copy's name
holds the hash of what it was made from, so none is ever out of date; nothing here removes or replaces a file
that a server may read.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import brotli

SMALLEST = 512
"""Bytes below which compression saves nothing worth a header."""
_FAST_QUALITY = 5
"""Of brotli and gzip: 15 % more bytes than the best quality, in a hundredth of its time."""
_WINDOW = 24
"""Brotli's largest window (RFC 7932): 16 MiB, more than any of the files."""

Compress = Callable[[bytes], bytes]


def _brotli(quality: int) -> Compress:
    def compress(body: bytes) -> bytes:
        made: bytes = brotli.compress(body, quality=quality, lgwin=_WINDOW)
        return made

    return compress


def _gzip(level: int) -> Compress:
    return lambda body: gzip.compress(body, compresslevel=level, mtime=0)


BEST: Mapping[str, Compress] = {"br": _brotli(11), "gzip": _gzip(9)}
FAST: Mapping[str, Compress] = {"br": _brotli(_FAST_QUALITY), "gzip": _gzip(_FAST_QUALITY)}


@dataclass(frozen=True)
class Kept:
    """A file that is made from a source once and lies in the directory then.

    Attributes:
        path: where.
        source_bytes: size of what it is made from.
        make: makes its content; may take seconds.
    """

    path: Path
    source_bytes: int
    make: Callable[[], bytes]

    def is_there(self) -> bool:
        """Whether it has been made."""
        return self.path.is_file()

    def read(self) -> bytes | None:
        """Its content, None when it has not been made."""
        try:
            return self.path.read_bytes()
        except OSError:
            return None

    def write(self) -> int:
        """Makes it and gives its size in bytes.

        Raises:
            OSError: the directory can't be written.
        """
        content = self.make()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=self.path.parent, delete=False) as file:
            file.write(content)
        Path(file.name).chmod(0o644)
        # Renaming is atomic: another process never reads half a file.
        os.replace(file.name, self.path)  # noqa: PTH105 - Path.replace would need a second Path
        return len(content)


class CompressedCopies(Mapping[str, bytes]):
    """A file's compressed forms: the best from disk as soon as they are there, until then fast ones."""

    def __init__(self, body: bytes, folder: Path) -> None:
        self._body = body
        digest = hashlib.sha256(body).hexdigest()
        self.kept = {
            encoding: Kept(folder / f"{digest}.{encoding}", len(body), _bound(compress, body))
            for encoding, compress in BEST.items()
        }
        self._best: dict[str, bytes] = {}
        self._fast: dict[str, bytes] = {}
        self._lock = threading.Lock()

    def __getitem__(self, encoding: str) -> bytes:
        """The file in an encoding; the first call may take some tenths of a second."""
        with self._lock:
            if encoding in self._best:
                return self._best[encoding]
            if (best := self.kept[encoding].read()) is not None:
                self._fast.pop(encoding, None)
                return self._best.setdefault(encoding, best)
            if encoding not in self._fast:
                self._fast[encoding] = FAST[encoding](self._body)
            return self._fast[encoding]

    def is_at_hand(self, encoding: str) -> bool:
        """Whether the file in this encoding is in memory for good, so that nothing is read or made for it."""
        return encoding in self._best

    def __iter__(self) -> Iterator[str]:
        """Names of the encodings, the best first."""
        return iter(self.kept)

    def __len__(self) -> int:
        """How many there are."""
        return len(self.kept)

    def __contains__(self, encoding: object) -> bool:
        """Whether there is such an encoding; makes nothing."""
        return encoding in self.kept


def _bound(compress: Compress, body: bytes) -> Callable[[], bytes]:
    return lambda: compress(body)
