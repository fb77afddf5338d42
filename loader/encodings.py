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


def decompress(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The raw bytes of a zstd body."""
    decoder = zstandard.ZstdDecompressor().decompressobj()
    for piece in pieces:
        if raw := decoder.decompress(piece):
            yield raw


def recode(pieces: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """A zstd body in another encoding; memory use does not depend on its size."""
    if encoding == ZSTD:
        yield from pieces
    elif encoding == BROTLI:
        coder = brotli.Compressor(quality=4)
        for raw in decompress(pieces):
            if out := coder.process(raw):
                yield out
        yield coder.finish()
    elif encoding == GZIP:
        packer = zlib.compressobj(6, zlib.DEFLATED, _GZIP_WINDOW)
        for raw in decompress(pieces):
            if out := packer.compress(raw):
                yield out
        yield packer.flush()
    else:
        yield from decompress(pieces)
