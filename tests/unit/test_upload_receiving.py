"""Taking in a body: written in order and in blocks, limited, and not waited for without end."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable
from typing import TypeVar

import pytest

from loader.storage.base import StoredFile
from server.http.errors import ApiError
from server.uploads.receiving import Pace, Received, Wanted, receive

T = TypeVar("T")
ANY = Wanted(10_000_000, None, None, "Repr-Digest")
PATIENT = Pace(idle_seconds=60, grace_seconds=60, bytes_per_second=1)


class Memory:
    """A draft that keeps what it gets."""

    def __init__(self) -> None:
        self.blocks: list[bytes] = []
        self.is_discarded = False

    def write(self, block: bytes) -> None:
        self.blocks.append(block)

    def finish(self) -> StoredFile:
        return StoredFile("/x", "x", sum(len(block) for block in self.blocks), "1")

    def discard(self) -> None:
        self.is_discarded = True


async def in_thread(call: Callable[[], T], /) -> T:
    return call()


async def pieces(*given: bytes) -> AsyncIterator[bytes]:
    for piece in given:
        yield piece


def take(
    draft: Memory, body: AsyncIterator[bytes], wanted: Wanted = ANY, pace: Pace = PATIENT
) -> Received:
    return asyncio.run(receive(body, draft, wanted, pace, in_thread))


def test_small_pieces_are_written_in_larger_blocks() -> None:
    draft = Memory()
    given = [bytes([index % 256]) * 65_536 for index in range(40)]
    received = take(draft, pieces(*given))
    assert b"".join(draft.blocks) == b"".join(given)
    assert [len(block) for block in draft.blocks] == [1 << 20, 1 << 20, 8 * 65_536]
    assert received.digest == hashlib.sha256(b"".join(given)).digest()
    assert not draft.is_discarded


@pytest.mark.parametrize(
    ("wanted", "http"),
    [
        (Wanted(9, None, None, "Repr-Digest"), 413),
        (Wanted(100, 9, None, "Content-Digest"), 400),
        (Wanted(100, 11, None, "Content-Digest"), 400),
        (Wanted(100, None, b"x" * 32, "Repr-Digest"), 400),
    ],
)
def test_what_is_not_as_it_must_be_is_discarded(wanted: Wanted, http: int) -> None:
    draft = Memory()
    with pytest.raises(ApiError) as caught:
        take(draft, pieces(b"12345", b"67890"), wanted)
    assert caught.value.answer.http == http
    assert draft.is_discarded


def test_nothing_more_is_read_once_it_is_too_large() -> None:
    read = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal read
        while True:
            read += 1
            yield b"x" * (1 << 20)

    with pytest.raises(ApiError):
        take(Memory(), endless(), Wanted(3 << 20, None, None, "Repr-Digest"))
    assert read == 4


def test_a_client_that_sends_nothing_is_given_up() -> None:
    async def silent() -> AsyncIterator[bytes]:
        yield b"x"
        await asyncio.Event().wait()

    draft = Memory()
    with pytest.raises(ApiError) as caught:
        take(draft, silent(), pace=Pace(0.01, 60, 1))
    assert caught.value.answer.http == 408
    assert caught.value.headers == {"Connection": "close"}
    assert draft.is_discarded


def test_a_client_that_drips_is_given_up() -> None:
    async def dripping() -> AsyncIterator[bytes]:
        while True:
            await asyncio.sleep(0)
            yield b"x"

    with pytest.raises(ApiError) as caught:
        take(Memory(), dripping(), pace=Pace(60, 0, 1e12))
    assert caught.value.answer.http == 408


def test_a_broken_connection_leaves_nothing() -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield b"x"
        raise ConnectionResetError

    draft = Memory()
    with pytest.raises(ConnectionResetError):
        take(draft, broken())
    assert draft.is_discarded
