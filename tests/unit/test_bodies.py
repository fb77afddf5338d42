"""Bodies on their way out: caches that break off, copies that are not kept, what is let go at the end."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import AsyncGenerator, Iterator
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
import zstandard

from loader.caches.results import FilePieces, OpenResult, ResultHeader
from server.fleet.workers import WorkerAnswer
from server.xprof.bodies import Body, recoded_body, stored_body

RAW = b"profile " * 100_000
ZSTD = zstandard.ZstdCompressor(level=1).compress(RAW) + zstandard.ZstdCompressor().compress(
    hashlib.sha256(RAW).digest() * 50_000
)


def header(content: bytes = ZSTD) -> ResultHeader:
    digest = hashlib.sha256(content).hexdigest()
    return ResultHeader("a/b", len(content), len(RAW), digest=digest)


def broken_after(content: bytes, length: int) -> Iterator[bytes]:
    for start in range(0, length, 100):
        yield content[start : min(start + 100, length)]
    raise ConnectionError("redis went away")


class Worker:
    """Answers with a body, in pieces of its own size, and knows whether it was closed."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.closed = False

    async def ask(self) -> WorkerAnswer:
        async def pieces() -> AsyncGenerator[bytes, None]:
            for start in range(0, len(self.content), 77):
                yield self.content[start : start + 77]

        async def close() -> None:
            self.closed = True

        return WorkerAnswer("key", header(self.content), pieces(), close)


async def read(body: Body) -> bytes:
    try:
        return b"".join([piece async for piece in body.pieces])
    finally:
        await body.close()


@pytest.mark.parametrize("length", [0, 100, 700, len(ZSTD)])
def test_the_worker_goes_on_where_the_cache_broke_off(length: int) -> None:
    worker = Worker(ZSTD)

    async def run() -> bytes:
        stored = OpenResult(header(), broken_after(ZSTD, length))
        return await read(stored_body("key", stored, anyio.CapacityLimiter(1), worker.ask))

    assert anyio.run(run) == ZSTD
    assert worker.closed


def test_another_body_is_never_mixed_in() -> None:
    worker = Worker(ZSTD + b"another")

    async def run() -> bytes:
        stored = OpenResult(header(), broken_after(ZSTD, 100))
        return await read(stored_body("key", stored, anyio.CapacityLimiter(1), worker.ask))

    with pytest.raises(ConnectionError, match="not the one"):
        anyio.run(run)
    assert worker.closed


class Kept(list[tuple[ResultHeader, bytes]]):
    """What was kept."""

    def keep(self, kept: ResultHeader, path: Path) -> None:
        self.append((kept, path.read_bytes()))


def recode(folder: Path, kept: Kept, encoding: str = "gzip") -> bytes:
    async def run() -> bytes:
        limiter = anyio.CapacityLimiter(1)
        body = stored_body("key", OpenResult(header(), iter([ZSTD])), limiter)
        return await read(recoded_body(body, encoding, folder, limiter, kept.keep))

    return anyio.run(run)


def test_a_recoded_body_is_kept_as_it_was_sent(tmp_path: Path) -> None:
    kept = Kept()
    sent = recode(tmp_path / "recoding", kept)
    assert gzip.decompress(sent).startswith(RAW)
    ((kept_header, content),) = kept
    assert content == sent
    assert kept_header.size == len(sent)
    assert list((tmp_path / "recoding").iterdir()) == []


@pytest.mark.parametrize("is_final", [True, False])
def test_a_recoded_body_is_as_final_as_its_answer(tmp_path: Path, is_final: bool) -> None:
    """Else the answer without a host would be kept in one encoding long after the whole one is there."""
    kept = Kept()

    async def run() -> None:
        limiter = anyio.CapacityLimiter(1)
        stored = OpenResult(replace(header(), is_final=is_final), iter([ZSTD]))
        body = stored_body("key", stored, limiter)
        await read(recoded_body(body, "gzip", tmp_path, limiter, kept.keep))

    anyio.run(run)
    ((kept_header, _),) = kept
    assert kept_header.is_final is is_final


def test_a_body_that_cannot_be_kept_is_sent_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "recoding").write_text("a file where the folder should be")
    kept = Kept()
    assert gzip.decompress(recode(tmp_path / "recoding", kept)).startswith(RAW)
    assert kept == []


def test_an_uncompressed_body_is_not_kept(tmp_path: Path) -> None:
    kept = Kept()
    assert recode(tmp_path / "recoding", kept, "identity").startswith(RAW)
    assert kept == []
    assert not (tmp_path / "recoding").exists()


def test_a_reader_that_goes_leaves_nothing(tmp_path: Path) -> None:
    kept = Kept()
    path = tmp_path / "stored"
    path.write_bytes(ZSTD)

    async def run() -> None:
        limiter = anyio.CapacityLimiter(1)
        source = path.open("rb")
        body = stored_body("key", OpenResult(header(), FilePieces(source)), limiter)
        recoded = recoded_body(body, "gzip", tmp_path / "recoding", limiter, kept.keep)
        await recoded.close()  # nothing was read
        assert source.closed

    anyio.run(run)
    assert kept == []
    assert not (tmp_path / "recoding").exists()
