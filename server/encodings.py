"""Content encodings: which one a browser gets, and turning a stored zstd body into it piece by piece."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence

import brotli
import zstandard

ZSTD = "zstd"
BROTLI = "br"
GZIP = "gzip"
IDENTITY = "identity"
_GZIP_WINDOW = 31  # zlib's code for a gzip header and trailer
_SLICE_BYTES = 1024
"""Input of one step. A zstd block of some bytes may stand for 128 KiB, so steps on larger slices of an evenly
repetitive body would each make hundreds of megabytes."""
_OUTPUT_BYTES = 256 << 10


def choose_encoding(accept: str | None, offered: Sequence[str] = (ZSTD, BROTLI, GZIP)) -> str:
    """The first offered encoding that an Accept-Encoding header allows (RFC 9110, 12.5.3)."""
    weights: dict[str, float] = {}
    for part in (accept or "").lower().split(","):
        name, _, parameters = part.partition(";")
        weights[name.strip()] = _weight(parameters)
    allowed = [name for name in offered if weights.get(name, weights.get("*", 0.0)) > 0]
    return allowed[0] if allowed else IDENTITY


def _weight(parameters: str) -> float:
    name, _, value = parameters.strip().partition("=")
    if name.strip() != "q":
        return 1.0
    try:
        return float(value)
    except ValueError:
        return 0.0


class Recoder:
    """Turns a zstd body into another encoding, piece by piece, in bounded memory."""

    def __init__(self, encoding: str) -> None:
        self._unpack = zstandard.ZstdDecompressor().decompressobj()
        self._brotli = brotli.Compressor(quality=4) if encoding == BROTLI else None
        self._gzip = zlib.compressobj(6, zlib.DEFLATED, _GZIP_WINDOW) if encoding == GZIP else None

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """What can be written after one more piece, itself in pieces."""
        ready: list[bytes] = []
        size = 0
        for start in range(0, len(piece), _SLICE_BYTES):
            out = self._pack(self._unpack.decompress(piece[start : start + _SLICE_BYTES]))
            ready.append(out)
            size += len(out)
            if size >= _OUTPUT_BYTES:
                yield b"".join(ready)
                ready, size = [], 0
        if size:
            yield b"".join(ready)

    def finish(self) -> bytes:
        """What is left at the end."""
        if self._brotli is not None:
            return bytes(self._brotli.finish())
        return self._gzip.flush() if self._gzip is not None else b""

    def _pack(self, raw: bytes) -> bytes:
        if self._brotli is not None:
            return bytes(self._brotli.process(raw))
        return self._gzip.compress(raw) if self._gzip is not None else raw


def recode(pieces: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """A zstd body in another encoding; empty pieces are left out."""
    recoder = Recoder(encoding)
    for piece in pieces:
        yield from recoder.feed(piece)
    if out := recoder.finish():
        yield out
