"""The browser bench's report: medians and ratios by arithmetic, and targets met exactly at their limits."""

from __future__ import annotations

import pytest

from bench.browser_opening import OVERVIEW, TRACE, Opening
from bench.browser_report import FIRST, REPEAT, Measurement, Report, median

PAGES = [(page, kind) for page in (OVERVIEW, TRACE) for kind in (FIRST, REPEAT)]


def opening(milliseconds: float, size: int, data_size: int = 0) -> Opening:
    return Opening(milliseconds, 2 * milliseconds, size, data_size, requests=10, foreign=0)


def measurements(hub: Opening) -> list[Measurement]:
    """XProf takes 1000 ms and 1 MB for each page."""
    xprof = [Measurement("xprof", page, kind, opening(1000, 1_000_000)) for page, kind in PAGES]
    return xprof + [Measurement("XProf Hub", page, kind, hub) for page, kind in PAGES]


def test_medians_are_taken_for_each_server_page_and_kind() -> None:
    three = [opening(10, 500), opening(30, 100), opening(20, 900)]
    (found,) = median([Measurement("xprof", OVERVIEW, REPEAT, each) for each in three])
    assert found == Measurement("xprof", OVERVIEW, REPEAT, opening(20, 500))


def test_ratios_follow_from_the_figures() -> None:
    rows = Report(measurements(opening(250, 40_000))).ratios()
    assert rows[0] == ["overview, first", "0.040", "0.25", "0.25"]


@pytest.mark.parametrize(
    ("milliseconds", "size", "missed"),
    [
        (600, 10_000, []),
        (601, 10_000, ["overview, first", "overview, repeat"]),
        (600, 10_001, ["overview, repeat", "trace, repeat"]),
        (600, 600_001, ["overview, first", "overview, repeat", "trace, repeat"]),
    ],
)
def test_targets(milliseconds: float, size: int, missed: list[str]) -> None:
    lines = Report(measurements(opening(milliseconds, size))).targets()
    assert [line.partition(":")[0] for line in lines if line.endswith("MISSED")] == missed
    assert len(lines) == 6


def test_a_traces_data_is_not_counted_as_weight() -> None:
    lines = Report(measurements(opening(600, 510_000, data_size=500_000))).targets()
    (line,) = [line for line in lines if line.startswith("trace, repeat")]
    assert line.startswith("trace, repeat: 10.0 KB transferred, the data apart")
    assert line.endswith(": met")
