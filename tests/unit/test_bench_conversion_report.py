"""The conversion bench's report: targets that are met exactly at their limits, each from its own figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import pytest

from bench.contenders import FastHub, Hub, XprofServer
from bench.conversion_report import COLD, Report, print_report
from bench.conversion_steps import CACHED, OVERVIEW, SHARED, TABLES, TRACE, Measurement

Key = tuple[str, int, str]
AT_THE_LIMITS: Mapping[Key, Mapping[str, float]] = {
    # XProf takes 10 s and 10 CPU seconds for each step and each crowd.
    **{(Hub.name, 1, step): {"seconds": 10.5} for step in COLD},
    **{(Hub.name, 8, step): {"cpu_seconds": 1.5} for step in COLD},
    (Hub.name, 1, SHARED): {"seconds": 2.0},
    (Hub.name, 1, CACHED): {"cpu_seconds": 0.1},
    (FastHub.name, 1, TABLES): {"seconds": 2.0},
}
ALL = 7


def measured(what: str, users: int, name: str) -> Measurement:
    figures = AT_THE_LIMITS.get((name, users, what), {})
    plain = Measurement("s", users, what, name, 10.0, 10.0, 500.0, 150.0, 1, 1.0)
    return replace(
        plain,
        seconds=figures.get("seconds", 10.0),
        cpu_seconds=figures.get("cpu_seconds", 10.0),
    )


def all_measured() -> Iterator[Measurement]:
    for users in (1, 8):
        for name in (XprofServer.name, Hub.name):
            for what in (*COLD, CACHED, SHARED):
                yield measured(what, users, name)
    for name in (XprofServer.name, Hub.name, FastHub.name):
        yield measured(TABLES, 1, name)


def verdicts(found: list[Measurement]) -> tuple[int, int]:
    lines = list(Report(found).targets())
    met, missed = (sum(line.endswith(end) for line in lines) for end in (": met", ": MISSED"))
    assert met + missed == len(lines)
    return met, missed


def test_every_target_is_met_at_its_limit() -> None:
    assert verdicts(list(all_measured())) == (ALL, 0)


def worse(measurement: Measurement) -> Iterator[Measurement]:
    """The measurement with one figure beyond the limit of a target that reads it."""
    yield replace(measurement, seconds=measurement.seconds * 1.1)
    yield replace(measurement, cpu_seconds=measurement.cpu_seconds * 1.1)
    yield replace(measurement, parent_megabytes=151.0)
    yield replace(measurement, right=0.875)


SECONDS, CPU, PARENT, RIGHT = range(4)


@pytest.mark.parametrize(
    ("name", "users", "what", "figure"),
    [
        (Hub.name, 1, OVERVIEW, SECONDS),
        (Hub.name, 8, TRACE, CPU),
        (Hub.name, 1, SHARED, SECONDS),
        (Hub.name, 1, CACHED, CPU),
        (FastHub.name, 1, TABLES, SECONDS),
        (Hub.name, 8, SHARED, PARENT),
        (Hub.name, 8, TRACE, RIGHT),
    ],
)
def test_each_target_is_missed_by_itself(name: str, users: int, what: str, figure: int) -> None:
    found = [
        list(worse(each))[figure]
        if (each.contender, each.users, each.what) == (name, users, what)
        else each
        for each in all_measured()
    ]
    assert verdicts(found) == (ALL - 1, 1)


def test_what_was_not_measured_has_no_verdict() -> None:
    one_user = [each for each in all_measured() if each.users == 1 and each.what != TABLES]
    assert verdicts(one_user) == (ALL - 2, 0)


def test_xprofs_own_wrong_answers_are_no_fault_of_ours() -> None:
    found = [
        replace(each, right=0.0) if each.contender == XprofServer.name else each
        for each in all_measured()
    ]
    assert verdicts(found) == (ALL, 0)


def test_sessions_are_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    found = [replace(each, session=name) for name in ("first", "second") for each in all_measured()]
    print_report(found, "a machine", markdown=True)
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith("## ")] == ["## First", "## Second"]
    assert sum(line.startswith("- ") for line in lines) == 2 * ALL
