"""A front end is ready from when its database has answered once, also while that is away later."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Sequence

import pytest

from server.http.front_readiness import FrontReadiness

OK = (200, {"status": "ok"})


class Database:
    """Answers, is gone, or says nothing, as it is told."""

    def __init__(self) -> None:
        self.is_there = True
        self.may_speak = threading.Event()
        self.may_speak.set()

    def ping(self) -> None:
        assert self.may_speak.wait(20)
        if not self.is_there:
            raise ConnectionError("10.1.2.3 refuses hub:password")


def away(status: int, kind: str = "ConnectionError") -> tuple[int, dict[str, str]]:
    return status, {"status": "database", "message": kind}


async def answer_of(readiness: FrontReadiness) -> tuple[int, dict[str, str]]:
    response = await readiness.answer()
    return response.status_code, json.loads(bytes(response.body))


def answers_while(states: Sequence[bool], database: Database) -> list[tuple[int, dict[str, str]]]:
    """What one front end says, the database being there or not in turn."""

    async def ask() -> list[tuple[int, dict[str, str]]]:
        readiness, said = FrontReadiness(database, patience=20), []
        for database.is_there in states:
            said.append(await answer_of(readiness))
        return said

    return asyncio.run(ask())


def test_it_begins_with_the_database_and_does_not_end_with_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING, "server.http.front_readiness")
    said = answers_while([False, False, True, False, False, True], Database())
    assert said == [away(503), away(503), OK, away(200), away(200), OK]
    assert [record.levelname for record in caplog.records] == ["ERROR", "WARNING"]
    assert "password" not in caplog.text


@pytest.mark.parametrize("was_ready", [True, False])
def test_a_database_that_says_nothing_keeps_no_probe_waiting(was_ready: bool) -> None:
    database = Database()

    async def ask() -> None:
        readiness = FrontReadiness(database, patience=0.01)
        while was_ready and await answer_of(readiness) != OK:
            await asyncio.sleep(0.01)
        database.may_speak.clear()
        assert await answer_of(readiness) == away(200 if was_ready else 503, "TimeoutError")
        database.may_speak.set()
        while await answer_of(readiness) != OK:
            await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(ask(), 20))
