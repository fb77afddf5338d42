"""Prints the conversion bench's measurements and whether the targets are met."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bench.contenders import FastHub, Hub, XprofServer
from bench.conversion_steps import (
    CACHED,
    OVERVIEW,
    SHARED,
    SIDEBAR,
    TABLES,
    TRACE,
    Measurement,
)
from bench.report import print_table, verdict
from loader.engine.base import XPROF_VERSION

MOST_COLD_RATIO = 1.05
"""One user, nothing cached: XProf Hub's seconds over XProf's."""
MOST_FAST_RATIO = 0.2
"""The same with the fast engine, for the tools that it serves."""
MOST_CROWD_RATIO = 0.15
"""Eight users, nothing cached: XProf Hub's CPU seconds over XProf's."""
MOST_SHARED_RATIO = 0.1
"""One user, a fresh worker with shared artifacts: XProf Hub's seconds for the trace and another tool of the
overview's artifact, over XProf's cold ones for trace and overview."""
LEAST_CACHED_RATIO = 100.0
"""One user, a trace once more: XProf's CPU seconds over XProf Hub's."""
MOST_PARENT_MEGABYTES = 150.0
"""Most resident memory of a worker's own process."""

COLD = (SIDEBAR, OVERVIEW, TRACE)
_HEADER = (
    "users",
    "step",
    "server",
    "seconds",
    "CPU seconds",
    "peak MB",
    "engine runs",
    "right",
)


class NotMeasuredError(Exception):
    """The run had no such step."""


class Report:
    """All measurements of one session."""

    def __init__(self, measurements: Sequence[Measurement]) -> None:
        self._measurements = measurements

    def rows(self) -> list[list[str]]:
        """One line per measurement."""
        return [
            [
                str(each.users),
                each.what,
                each.contender,
                f"{each.seconds:.3f}",
                f"{each.cpu_seconds:.3f}",
                f"{each.peak_megabytes:.0f}",
                str(each.conversions),
                f"{each.right:.0%}",
            ]
            for each in self._measurements
        ]

    def targets(self) -> Iterator[str]:
        """A line for each target that the run can tell."""
        for target in (
            self._cold,
            self._fast,
            self._crowd,
            self._shared,
            self._cached,
            self._parent,
            self._right,
        ):
            try:
                yield target()
            except NotMeasuredError:
                continue

    def _seconds(self, contender: str, steps: Sequence[str]) -> float:
        """One user's seconds for some steps together."""
        return sum(self._find(contender, 1, step).seconds for step in steps)

    def _find(self, contender: str, users: int, what: str) -> Measurement:
        for each in self._measurements:
            if (each.contender, each.users, each.what) == (contender, users, what):
                return each
        raise NotMeasuredError

    def _ratio(self, steps: Sequence[str], hub: str = Hub.name) -> float:
        """One user's seconds over XProf's."""
        return self._seconds(hub, steps) / self._seconds(XprofServer.name, steps)

    def _cold(self) -> str:
        ratio = self._ratio(COLD)
        return _most("cold, one user", ratio, MOST_COLD_RATIO, "times XProf's seconds")

    def _fast(self) -> str:
        ratio = self._ratio([TABLES], FastHub.name)
        return _most(
            "cold, the fast engine's tools", ratio, MOST_FAST_RATIO, "times XProf's seconds"
        )

    def _crowd(self) -> str:
        users = max(each.users for each in self._measurements)
        if users == 1:
            raise NotMeasuredError
        ours, theirs = (
            sum(self._find(name, users, step).cpu_seconds for step in COLD)
            for name in (Hub.name, XprofServer.name)
        )
        return _most(
            f"cold, {users} users", ours / theirs, MOST_CROWD_RATIO, "times XProf's CPU seconds"
        )

    def _shared(self) -> str:
        cold = self._seconds(XprofServer.name, [OVERVIEW, TRACE])
        return _most(
            "a fresh worker with shared artifacts, another tool and the trace",
            self._seconds(Hub.name, [SHARED]) / cold,
            MOST_SHARED_RATIO,
            "times XProf's cold seconds",
        )

    def _cached(self) -> str:
        theirs = self._find(XprofServer.name, 1, CACHED).cpu_seconds
        ratio = theirs / max(self._find(Hub.name, 1, CACHED).cpu_seconds, 1e-6)
        return (
            f"a cached trace: {ratio:.0f} times less CPU than XProf's warm one, target at least "
            f"{LEAST_CACHED_RATIO:.0f}: {verdict(ratio >= LEAST_CACHED_RATIO)}"
        )

    def _parent(self) -> str:
        most = max(
            (each.parent_megabytes for each in self._measurements if _is_hub(each)), default=0.0
        )
        return _most("the worker's own process", most, MOST_PARENT_MEGABYTES, "MB")

    def _right(self) -> str:
        worst = min((each.right for each in self._measurements if _is_hub(each)), default=1.0)
        return f"right answers: {worst:.0%}, target 100%: {verdict(worst == 1)}"


def _is_hub(measurement: Measurement) -> bool:
    return measurement.contender != XprofServer.name


def _most(what: str, value: float, limit: float, unit: str) -> str:
    """A target's line; the figure has as many places as tell it from its limit."""
    places = 0 if limit > 1.5 else 3
    return f"{what}: {value:.{places}f} {unit}, target at most {limit:g}: {verdict(value <= limit)}"


def print_report(measurements: Sequence[Measurement], machine: str, markdown: bool) -> None:
    """Prints a table and the targets for each session; as Markdown, or aligned for a terminal."""
    print(f"xprof {XPROF_VERSION}\nmachine: {machine}")
    for session in dict.fromkeys(each.session for each in measurements):
        report = Report([each for each in measurements if each.session == session])
        print(f"\n## {session[0].upper()}{session[1:]}\n" if markdown else f"\n{session}\n")
        print_table(_HEADER, report.rows(), markdown)
        print()
        for line in report.targets():
            print(f"- {line}" if markdown else line)
