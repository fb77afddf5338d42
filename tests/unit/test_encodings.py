"""Content negotiation after RFC 9110, and recoding checked with the standard decoders."""

import gzip
import tracemalloc

import brotli
import pytest
import zstandard

from server.encodings import choose_encoding, recode


@pytest.mark.parametrize(
    ("accept", "encoding"),
    [
        ("gzip, deflate, br, zstd", "zstd"),
        ("gzip, deflate, br", "br"),
        ("gzip", "gzip"),
        ("GZIP;Q=0.5", "gzip"),
        ("zstd;q=0, br;q=0.1", "br"),
        ("deflate", "identity"),
        ("identity", "identity"),
        ("*", "zstd"),
        ("*, zstd;q=0", "br"),
        ("gzip;q=nonsense", "identity"),
        ("", "identity"),
        (None, "identity"),
    ],
)
def test_choice(accept: str | None, encoding: str) -> None:
    assert choose_encoding(accept) == encoding


DECODERS = {
    "br": brotli.decompress,
    "gzip": gzip.decompress,
    "identity": bytes,
}


@pytest.mark.parametrize("encoding", sorted(DECODERS))
@pytest.mark.parametrize("size", [0, 1, 3_000_000])
def test_recoded_body_decodes_to_the_same_bytes(encoding: str, size: int) -> None:
    raw = (b"profile " * (size // 8 + 1))[:size]
    stored = zstandard.ZstdCompressor().compress(raw)
    pieces = [stored[start : start + 1000] for start in range(0, len(stored), 1000)]
    assert DECODERS[encoding](b"".join(recode(pieces, encoding))) == raw


@pytest.mark.parametrize("encoding", sorted(DECODERS))
def test_memory_stays_bounded_on_the_most_repetitive_body(encoding: str) -> None:
    raw_size = 256 << 20
    packer = zstandard.ZstdCompressor().compressobj(size=raw_size)
    stored = b"".join(packer.compress(bytes(1 << 20)) for _ in range(256)) + packer.flush()
    assert len(stored) < 100_000
    total = 0
    tracemalloc.start()
    for piece in recode([stored], encoding):
        total += len(piece)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert total > 0
    assert peak < raw_size // 2
