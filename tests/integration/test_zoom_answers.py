"""A zoomed trace never shows less than XProf's own server shows for the window that was asked.

XProf samples the events of hosts that have more than half a million: which of several events closer than a
pixel it takes depends on where the window begins, so its own answers to two neighbouring windows don't
hold the same ones. What must not change is what a screen can show.
"""

from __future__ import annotations

import json
from bisect import bisect
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from loader.engine.base import Limits
from loader.engine.xprof import XprofEngine
from loader.tools import canonical_options, tool_named
from server.demo.session import write_session
from tests.integration.test_engine_answers import ask_xprof
from tests.services.engine import MakeJob

LIMITS = Limits(seconds=120, memory_bytes=4 << 30, output_bytes=1 << 30)
TAG = "trace_viewer@"
Event = Mapping[str, Any]
Query = dict[str, str]


def zoom(start: float, end: float, resolution: int) -> Query:
    return {
        "tag": TAG,
        "start_time_ms": repr(start),
        "end_time_ms": repr(end),
        "resolution": str(resolution),
    }


SPARSE = [zoom(9.87, 12.34, 5000), zoom(5.001, 5.0023, 4760), zoom(14.9, 30.0, 8000)]
"""In a session of 5 to 16 ms whose hosts have too few events for sampling."""
DENSE = [
    zoom(20.3, 220.7, 4760),
    zoom(31.4, 38.9, 500),
    zoom(300.1, 303.3, 8000),
    zoom(100.0, 100.3, 2000),
]
"""In a session of 5 to 390 ms whose one host is sampled."""


@pytest.fixture(scope="module")
def dense_session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One host with more than half a million events."""
    folder = tmp_path_factory.mktemp("dense")
    write_session(folder, hosts=1, events=520_000)
    return folder


def their_answers(profiles: list[Path], workplace: Path, queries: list[Query]) -> list[Any]:
    answers = ask_xprof(profiles, workplace, [("/data", query) for query in queries])
    assert [answer["status"] for answer in answers] == [200] * len(queries)
    return [json.loads(answer["body"]) for answer in answers]


def our_answers(
    engine: XprofEngine, make_job: MakeJob, profiles: list[Path], queries: list[Query]
) -> list[Any]:
    """Each from the artifact of the first, like the worker makes them."""
    job = make_job(TAG, *profiles)
    answers = []
    for query in queries:
        options = canonical_options(tool_named(TAG), query)
        converted = engine.convert(type(job)(job.directory, job.hosts, TAG, options), LIMITS)
        answers.append(json.loads(converted.output.read_bytes()))
    return answers


def slices(answer: Mapping[str, Any]) -> list[Event]:
    """What is drawn as a bar."""
    return [event for event in answer["traceEvents"] if event.get("ph") == "X"]


def identity(event: Event) -> str:
    return json.dumps(event, sort_keys=True)


def end_of(event: Event) -> float:
    return float(event["ts"] + event.get("dur", 0))


def test_without_sampling_every_event_of_xprofs_answer_is_in_ours(
    engine: XprofEngine, make_job: MakeJob, demo_session: Path, tmp_path: Path
) -> None:
    profiles = sorted(demo_session.glob("*.xplane.pb"))[:2]
    theirs = their_answers(profiles, tmp_path / "xprof", SPARSE)
    ours = our_answers(engine, make_job, profiles, SPARSE)
    for their, our in zip(theirs, ours, strict=True):
        assert len(slices(their)) > 10
        assert {*map(identity, their["traceEvents"])} <= {*map(identity, our["traceEvents"])}
        assert our["fullTimespan"] == their["fullTimespan"]


def test_with_sampling_a_screen_shows_no_less(
    engine: XprofEngine, make_job: MakeJob, dense_session: Path, tmp_path: Path
) -> None:
    profiles = sorted(dense_session.iterdir())
    theirs = their_answers(profiles, tmp_path / "xprof", DENSE)
    ours = our_answers(engine, make_job, profiles, DENSE)
    assert any(
        {*map(identity, slices(their))} - {*map(identity, slices(our))}
        for their, our in zip(theirs, ours, strict=True)
    ), "nothing was sampled"
    for query, their, our in zip(DENSE, theirs, ours, strict=True):
        assert len(slices(their)) > 100
        check_that_nothing_visible_is_missing(query, their, our)
        assert our["fullTimespan"] == their["fullTimespan"]


def check_that_nothing_visible_is_missing(
    query: Query, their: Mapping[str, Any], our: Mapping[str, Any]
) -> None:
    """What of XProf's answer is not in ours is shorter than a pixel, and one stands for it that close."""
    start, end = (float(query[name]) * 1000 for name in ("start_time_ms", "end_time_ms"))
    pixel = (end - start) / float(query["resolution"])
    ends: dict[tuple[int, int], list[float]] = defaultdict(list)
    for event in slices(our):
        ends[event["pid"], event["tid"]].append(end_of(event))
    for row in ends.values():
        row.sort()
    kept = {*map(identity, slices(our))}
    for event in slices(their):
        if identity(event) not in kept:
            assert event.get("dur", 0) < pixel
            row = ends[event["pid"], event["tid"]]
            place = bisect(row, event["ts"])
            assert (
                min(abs(other - event["ts"]) for other in row[max(place - 1, 0) : place + 1])
                < pixel
            )
    within = [event for event in slices(our) if event["ts"] <= end and end_of(event) >= start]
    assert len(within) >= len(slices(their))
    rest = {identity(event) for event in their["traceEvents"] if event.get("ph") != "X"}
    assert rest <= {identity(event) for event in our["traceEvents"]}
