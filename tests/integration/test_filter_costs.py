"""No filter keeps a database busy for long, whatever lies in the documents that it looks through."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from server.registry import runs
from server.registry.conditions import Matches, Subject
from server.registry.database import Database
from server.registry.errors import RegistryError, RegistryProblem
from server.registry.pages import PageRequest

NOW = datetime(2026, 3, 1, tzinfo=UTC)
ALL = PageRequest(1000)


def holding(text: str) -> Matches:
    return Matches(Subject("configs", ("k",)), ("", text, ""))


def test_a_filter_that_takes_too_long_is_ended_and_others_go_on(database: Database) -> None:
    # A text that almost matches everywhere: each of these takes seconds, all of them minutes.
    for number in range(24):
        values = runs.RunChanges(configs={"k": "a" * 1_000_000})
        runs.create_run(database, f"r{number}", values, creator="job", now=NOW)
    with pytest.raises(RegistryError) as refused:
        runs.list_runs(database, ALL, holding("a" * 1900 + "b"))
    assert refused.value.problem is RegistryProblem.TOO_COSTLY
    short = PageRequest(1)
    assert len(runs.list_runs(database, short, holding("a")).records) == 1
