"""What the load test makes of its samples: percentiles, errors that people see, counters, tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.load_test import metrics, running
from bench.load_test.addresses import NotLoopbackError, loopback_address
from bench.load_test.disturbing import EVENTS, Happened, too_long, waits_around
from bench.load_test.figures import FIRST_PAGE, all_figures, seen_errors
from bench.load_test.leaks import Growth
from bench.load_test.plan import Outcome, Plan, Sample, Told
from bench.load_test.report import disturbed_lines, kind_lines, leak_lines


def sample(kind: str, began: float, whole: float, outcome: Outcome = Outcome.OK) -> Sample:
    return Sample(kind, began, whole / 2, whole, 100, outcome)


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8080", "http://127.0.0.9:1", "http://[::1]:80/x"]
)
def test_loads_go_to_this_machine(url: str) -> None:
    assert loopback_address(url)[1] > 0


@pytest.mark.parametrize(
    "url",
    [
        "http://xprof.example.org:8080",
        "http://localhost:8080",
        "http://10.0.0.1:8080",
        "http://0.0.0.0:8080",
        "https://127.0.0.1:8080",
        "http://127.0.0.1",
        "http://127.0.0.1.example.org:80",
        "http://127.0.0.1@example.org:80",
        "http://127.0.0.1:http",
        "",
    ],
)
def test_loads_go_nowhere_else(url: str) -> None:
    with pytest.raises(NotLoopbackError):
        loopback_address(url)


def test_figures_are_those_of_answers() -> None:
    samples = [sample("trace", 0, seconds) for seconds in (4.0, 1.0, 3.0, 2.0)]
    samples += [sample("trace", 1, 90, Outcome.LATER), sample("trace", 1, 80, Outcome.FAILED)]
    samples += [sample(FIRST_PAGE, 0, 5.0)]
    first, trace = all_figures(samples)
    assert (first.kind, trace.kind) == (FIRST_PAGE, "trace")
    assert (trace.count, trace.later, trace.failed) == (4, 1, 1)
    assert trace.whole == (2.0, 4.0, 4.0)
    assert trace.first == (1.0, 2.0, 2.0)


def test_people_see_errors_but_no_progress_that_fails_and_no_page_that_comes_later() -> None:
    bad = sample("zoom", 3, 1, Outcome.FAILED)
    samples = [
        bad,
        sample("progress", 3, 1, Outcome.FAILED),
        sample("overview", 3, 1, Outcome.LATER),
        sample(FIRST_PAGE, 3, 1, Outcome.FAILED),  # its requests say what failed
    ]
    assert seen_errors(samples) == [bad]


def test_answers_count_for_what_happened_while_they_were_awaited() -> None:
    happened = [Happened("a worker dies", at=20, took=0.1), Happened("one comes", at=40, took=15)]
    samples = [
        sample("trace", 5, 1),
        sample("trace", 18, 4),  # was under way
        sample("zoom", 29, 2),  # within 10 s
        sample("tool", 54, 3),  # within the 15 s that it took
        sample("file", 21, 9),  # no data
        sample("trace", 21, 9, Outcome.FAILED),
    ]
    waits = waits_around(samples, happened)
    assert waits["at other times"] == (1, (1, 1, 1), 1)
    assert waits["a worker dies"] == (2, (2, 4, 4), 4)
    assert waits["one comes"] == (1, (3, 3, 3), 3)
    (row,) = [line for line in disturbed_lines(happened, waits) if "dies" in line]
    assert row == "| a worker dies | 20 | 0.1 | 2 | 2.00 | 4.00 | 4.00 | 4.00 |"
    assert too_long(waits) == []
    (sentence,) = too_long({**waits, "one comes": (1, (17, 17, 17), 17)})
    assert sentence.startswith("one comes: somebody waited 17.0 s, and 1.0 s")


def test_workers_that_are_ended_were_started() -> None:
    """The events in their order, on a fleet that only counts."""
    up, known = {0, 1}, {0, 1, 2, 3}

    class Counting:
        def kill_worker(self, number: int) -> None:
            up.remove(number)

        end_worker = kill_worker

        def start_worker(self, number: int) -> None:
            assert number in known - up
            up.add(number)
            assert up

    for event in EVENTS:
        event.act(Counting())  # type: ignore[arg-type]
        assert up, event.what
    assert up == {0, 3}
    assert [event.share for event in EVENTS] == sorted(event.share for event in EVENTS)


PAGE = """\
# TYPE xprof_hub_results_total counter
xprof_hub_results_total{outcome="hit"} 5
xprof_hub_results_total{outcome="miss"} 3.0
xprof_hub_results_total{outcome="not_modified"} 2.0
# TYPE xprof_hub_cache_lookups_total counter
xprof_hub_cache_lookups_total{layer="redis",outcome="hit"} 4.0
xprof_hub_cache_lookups_total{layer="redis",outcome="miss"} 12.0
"""


def test_hit_rates_come_from_the_hubs_counters() -> None:
    found = metrics.hit_rates(metrics.parse(PAGE), {})
    assert [(rate.layer, rate.hits, rate.asked, rate.share) for rate in found] == [
        ("answers, at the front end", 7, 10, 0.7),
        ("redis, at the front end", 4, 16, 0.25),
    ]
    assert metrics.hit_rates({}, {})[0].share == 0


def test_a_process_that_began_anew_has_gained_what_it_counts() -> None:
    series = ("requests", ())
    assert metrics.gained({series: 40.0}, {series: 42.0}) == {series: 2.0}
    assert metrics.gained({series: 40.0}, {series: 3.0}) == {series: 3.0}
    assert metrics.gained({}, {series: 3.0}) == {series: 3.0}


def test_what_the_load_tells_survives_the_way(tmp_path: Path) -> None:
    path = tmp_path / "told.json"
    told = Told(1.5, [sample("trace", 1, 2, Outcome.LATER)])
    told.write(path)
    assert Told.read(path) == told


def test_tables_are_tables() -> None:
    plan = Plan("", [], 10, 2, 1, 1.0)
    outcome = running.Outcome(1, plan, 11, [sample("trace", 0, 1)], {}, [], {})
    rows = kind_lines(outcome)
    assert rows[2] == "| trace | 1 | 0 | 0 | 0.500 | 0.500 | 0.500 | 1.000 | 1.000 | 1.000 |"
    growth = Growth("front: MB", 140.0, 141.5, 150.0, 0.25, 1.0)
    assert leak_lines([growth])[2] == "| front: MB | 140.0 | 141.5 | 150.0 | +0.25 | 1 |"
    assert {line.count("|") for line in rows} == {11}
