"""Filters on both databases, against what they mean in plain Python."""

from __future__ import annotations

import random

import pytest

from server.filters import RUN_FIELDS, read_filter
from server.http.errors import ApiError
from server.registry import runs
from server.registry.database import Database
from server.registry.pages import PageRequest
from server.registry.records import Run, RunState
from tests.filter_oracle import MOMENTS, TEXTS, random_document, random_filter, random_labels

EVERYTHING = PageRequest(1000, "id", descending=False)
RECORDS = 60
FILTERS = 250


def make_records(database: Database, chance: random.Random) -> tuple[Run, ...]:
    for number in range(RECORDS):
        values = runs.RunChanges(
            display_name=chance.choice(TEXTS),
            run_set=chance.choice(TEXTS),
            labels=random_labels(chance),
            configs=random_document(chance),
            workload=random_document(chance),
            storage_root=chance.choice(("", "gs://a/b", "/a")),
            state=chance.choice(list(RunState)),
        )
        creator = chance.choice(TEXTS)
        now = chance.choice(MOMENTS)
        runs.create_run(database, f"run-{number:03}", values, creator=creator, now=now)
    return runs.list_runs(database, EVERYTHING).records


@pytest.mark.parametrize("seed", range(3))
def test_a_filter_holds_exactly_the_records_that_it_says(database: Database, seed: int) -> None:
    chance = random.Random(seed)
    records = make_records(database, chance)
    assert len(records) == RECORDS
    told_apart = 0
    for _ in range(FILTERS):
        wanted = random_filter(chance)
        condition = read_filter(wanted.text, RUN_FIELDS)
        found = {run.id for run in runs.list_runs(database, EVERYTHING, condition).records}
        expected = {run.id for run in records if wanted.holds(run)}
        assert found == expected, wanted.text
        told_apart += 0 < len(expected) < RECORDS
    # Filters that hold all or nothing would prove little.
    assert told_apart > FILTERS / 2


PIECES = (
    *(
        " ",
        "(",
        ")",
        "-",
        "NOT ",
        " AND ",
        " OR ",
        "=",
        "!=",
        "<",
        ">=",
        ":",
        ".",
        ",",
        "*",
        "\\",
        '"',
        "'",
    ),
    *(
        "state",
        "displayName",
        "configs",
        "labels",
        "createTime",
        "name",
        "workload",
        "orchestrator",
        "0",
    ),
    *(
        "ACTIVE",
        "2026-01-31",
        "64",
        "1e308",
        "-1",
        "true",
        "null",
        "\\u00e9",
        "\U0001f600",
        "%",
        "_",
        "[",
    ),
    *("$", "'; --", "{}", "[0]", "\ud800", "\0", "\n"),
)


def test_no_text_is_a_fault_of_ours(database: Database) -> None:
    chance = random.Random(7)
    make_records(database, chance)
    accepted = 0
    for _ in range(2000):
        begin = chance.choice(("displayName", "configs.a", "labels", "state", "createTime", ""))
        comparator = chance.choice(("=", "!=", "<", ">=", ":", ""))
        text = begin + comparator + "".join(chance.choices(PIECES, k=chance.randrange(1, 6)))
        try:
            condition = read_filter(text, RUN_FIELDS)
        except ApiError as refused:
            assert refused.answer.http == 400
            assert 1 <= int(refused.details[0]["position"]) <= len(text) + 1
        else:
            accepted += 1
            runs.list_runs(database, EVERYTHING, condition)
    assert accepted > 100
