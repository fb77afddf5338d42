"""Content encodings: which one a browser gets, and turning a stored zstd body into it piece by piece."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

import brotli
import zstandard

ZSTD = "zstd"
BROTLI = "br"
GZIP = "gzip"
IDENTITY = "identity"
_PREFERENCE = (ZSTD, BROTLI, GZIP)
_GZIP_WINDOW = 31  # zlib's code for a gzip header and trailer


def choose_encoding(accept: str | None) -> str:
    """The best encoding that an Accept-Encoding header allows (RFC 9110, 12.5.3)."""
    weights: dict[str, float] = {}
    for part in (accept or "").lower().split(","):
        name, _, parameters = part.partition(";")
        weights[name.strip()] = _weight(parameters)
    allowed = [name for name in _PREFERENCE if weights.get(name, weights.get("*", 0.0)) > 0]
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
    """Turns a zstd body into another encoding, piece by piece; memory use does not depend on its size."""

    def __init__(self, encoding: str) -> None:
        self._unpack = zstandard.ZstdDecompressor().decompressobj()
        self._brotli = brotli.Compressor(quality=4) if encoding == BROTLI else None
        self._gzip = zlib.compressobj(6, zlib.DEFLATED, _GZIP_WINDOW) if encoding == GZIP else None

    def feed(self, piece: bytes) -> bytes:
        """What can be written after one more piece; may be empty."""
        raw = self._unpack.decompress(piece)
        if self._brotli is not None:
            return bytes(self._brotli.process(raw))
        return self._gzip.compress(raw) if self._gzip is not None else raw

    def finish(self) -> bytes:
        """What is left at the end."""
        if self._brotli is not None:
            return bytes(self._brotli.finish())
        return self._gzip.flush() if self._gzip is not None else b""


def recode(pieces: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """A zstd body in another encoding; empty pieces are left out."""
    if encoding == ZSTD:
        yield from pieces
        return
    recoder = Recoder(encoding)
    for piece in pieces:
        if out := recoder.feed(piece):
            yield out
    if out := recoder.finish():
        yield out
