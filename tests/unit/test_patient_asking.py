"""What is asked for ahead of time comes again to a worker that was busy, and only then."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest

from loader.caches.results import ResultHeader
from loader.errors import ErrorCode, LoaderError
from loader.keys import ToolRequest
from loader.turns.admission import Urgency
from server.fleet.patient_asking import ask_patiently
from server.fleet.workers import WorkerAnswer
from tests.worker_servers import REQUEST


async def nothing() -> None:
    """Frees nothing."""


async def no_pieces() -> AsyncGenerator[bytes, None]:
    """An empty body."""
    return
    yield b""


ANSWER = WorkerAnswer("k", ResultHeader("application/json", 0, 0), no_pieces(), nothing)


class Asked:
    """Fails as it was told, and answers then."""

    def __init__(self, *failures: LoaderError) -> None:
        self.failures = list(failures)
        self.urgencies: list[Urgency] = []

    async def get(self, request: ToolRequest, urgency: Urgency = Urgency.PERSON) -> WorkerAnswer:
        self.urgencies.append(urgency)
        if self.failures:
            raise self.failures.pop(0)
        return ANSWER


def ask(asked: Asked) -> list[float]:
    """Asks; how long it waited each time."""
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    assert asyncio.run(ask_patiently(asked, REQUEST, sleep)) is ANSWER
    return waits


def busy(seconds: int | None) -> LoaderError:
    return LoaderError(ErrorCode.BUSY, "Much to do.", retry_after=seconds, ahead=3)


def test_it_comes_again_when_the_worker_says() -> None:
    asked = Asked(busy(8), busy(120))
    first, second = ask(asked)
    assert 8 <= first <= 16
    assert 120 <= second <= 240
    assert asked.urgencies == [Urgency.PREWARM] * 3


@pytest.mark.parametrize(
    "failure",
    [
        busy(None),  # no worker answers, or it gave way three times
        LoaderError(ErrorCode.STORAGE_UNAVAILABLE, "It does not answer.", retry_after=5),
        LoaderError(ErrorCode.ENGINE_REFUSED, "XProf can't."),
    ],
)
def test_other_failures_are_the_callers(failure: LoaderError) -> None:
    asked = Asked(failure)
    with pytest.raises(LoaderError) as caught:
        ask(asked)
    assert caught.value is failure
    assert len(asked.urgencies) == 1
