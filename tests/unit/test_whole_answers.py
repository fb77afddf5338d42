"""Small answers are read in one go; large ones, failures and those that break off are not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
import zstandard

from loader.caches.results import DirectoryResults, OpenResult, ResultHeader, StoredError
from server.xprof.whole_answers import MOST_BYTES, Found, look_up, parse_json, whole_body

KEY = "ab" * 32
HEADER = ResultHeader("application/json", 0, 0)


class OneResult:
    """A store that holds one answer, or breaks off in it."""

    def __init__(self, header: ResultHeader, pieces: Iterator[bytes]) -> None:
        self._found = OpenResult(header, pieces)

    def open(self, key: str) -> OpenResult | None:
        return self._found if key == KEY else None

    def contains(self, key: str) -> bool:
        return key == KEY

    def put(self, key: str, header: ResultHeader, body: Path | None, ttl_seconds: int) -> None:
        raise NotImplementedError


def stored(tmp_path: Path, body: bytes) -> Found | None:
    """What is found of a body that was put into a real store."""
    results = DirectoryResults(tmp_path / "results", 1 << 30)
    file = tmp_path / "body"
    file.write_bytes(body)
    results.put(KEY, replace(HEADER, size=len(body)), file, 60)
    return look_up(results, KEY)


@pytest.mark.parametrize("size", [1, MOST_BYTES])
def test_a_small_answer_is_read_at_once(tmp_path: Path, size: int) -> None:
    found = stored(tmp_path, b"x" * size)
    assert found is not None
    assert found.whole == b"x" * size


def test_a_large_answer_goes_out_in_pieces(tmp_path: Path) -> None:
    found = stored(tmp_path, b"x" * (MOST_BYTES + 1))
    assert found is not None
    assert found.whole is None
    assert b"".join(found.result.pieces) == b"x" * (MOST_BYTES + 1)


def test_nothing_is_found_under_another_key() -> None:
    assert look_up(OneResult(HEADER, iter([b"x"])), "cd" * 32) is None


def test_a_failure_is_found_as_one() -> None:
    header = replace(HEADER, error=StoredError("MALFORMED", "It is damaged.", None))
    found = look_up(OneResult(header, iter(())), KEY)
    assert found is not None and found.whole is None
    assert found.result.header.error == header.error


def test_a_small_answer_that_breaks_off_is_none_so_that_a_worker_is_asked() -> None:
    def pieces() -> Iterator[bytes]:
        yield b"half"
        raise ConnectionError("the cache is gone")

    assert look_up(OneResult(replace(HEADER, size=8), pieces()), KEY) is None


def test_a_whole_body_can_be_read_in_pieces_too(tmp_path: Path) -> None:
    found = stored(tmp_path, b"body")
    assert found is not None
    body = whole_body(KEY, found, b"body")

    async def read() -> bytes:
        try:
            return b"".join([piece async for piece in body.pieces])
        finally:
            await body.close()

    assert anyio.run(read) == b"body"
    assert (body.key, body.whole) == (KEY, b"body")


def test_json_is_parsed_from_what_is_stored() -> None:
    packed = zstandard.compress(b'{"hosts": [1, 2.5, "\xc3\xa9"]}')
    assert parse_json(packed) == {"hosts": [1, 2.5, "é"]}


def test_damaged_json_is_an_error_of_its_kind() -> None:
    with pytest.raises(ValueError, match="Expecting"):
        parse_json(zstandard.compress(b"{"))
    with pytest.raises(zstandard.ZstdError):
        parse_json(b"no zstd at all")
