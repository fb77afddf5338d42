"""Prints the browser bench's measurements as tables, the ratios, and whether the targets are met."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from bench.browser_opening import OVERVIEW, TRACE, Opening
from bench.contenders import Hub, XprofServer
from bench.report import print_table, verdict
from loader.engine.base import XPROF_VERSION

FIRST, REPEAT = "first", "repeat"
MOST_KILOBYTES = {
    (OVERVIEW, FIRST): 600.0,
    (OVERVIEW, REPEAT): 10.0,
    (TRACE, FIRST): 1300.0,
    (TRACE, REPEAT): 10.0,
}
"""Transferred by XProf Hub, a trace's data apart; 1 KB is 1,000 bytes."""
MOST_FIGURE_RATIO = 0.6
"""Until the first figure of a session that both have converted: XProf Hub's time over XProf's."""


@dataclass(frozen=True)
class Measurement:
    """One opening of one server.

    Attributes:
        contender: the server.
        page: `overview` or `trace`.
        kind: `first` with a new browser profile, `repeat` with the same one again.
        opening: what it cost.
    """

    contender: str
    page: str
    kind: str
    opening: Opening


def median(measurements: Sequence[Measurement]) -> list[Measurement]:
    """One measurement for each server, page and kind: medians over all of them."""
    groups: dict[tuple[str, str, str], list[Opening]] = {}
    for each in measurements:
        groups.setdefault((each.contender, each.page, each.kind), []).append(each.opening)
    return [Measurement(*key, _median(openings)) for key, openings in groups.items()]


def _median(openings: Sequence[Opening]) -> Opening:
    return Opening(
        milliseconds=statistics.median(each.milliseconds for each in openings),
        own_milliseconds=statistics.median(each.own_milliseconds for each in openings),
        size=statistics.median_low([each.size for each in openings]),
        data_size=statistics.median_low([each.data_size for each in openings]),
        requests=statistics.median_low([each.requests for each in openings]),
        foreign=statistics.median_low([each.foreign for each in openings]),
    )


class Report:
    """The medians of one run."""

    def __init__(self, medians: Sequence[Measurement]) -> None:
        self._openings = {(each.page, each.kind, each.contender): each.opening for each in medians}

    def rows(self) -> list[list[str]]:
        """One line for each server's opening."""
        return [
            [
                f"{page}, {kind}",
                name,
                f"{each.size / 1000:.1f}",
                f"{each.data_size / 1000:.1f}",
                str(each.requests),
                str(each.foreign),
                f"{each.milliseconds:.0f}",
                f"{each.own_milliseconds:.0f}",
            ]
            for page, kind in MOST_KILOBYTES
            for name in (XprofServer.name, Hub.name)
            for each in [self._openings[page, kind, name]]
        ]

    def ratios(self) -> list[list[str]]:
        """XProf Hub's figures over XProf's."""
        return [
            [
                f"{page}, {kind}",
                f"{hub.size / xprof.size:.3f}",
                f"{hub.milliseconds / xprof.milliseconds:.2f}",
                f"{hub.own_milliseconds / xprof.own_milliseconds:.2f}",
            ]
            for page, kind in MOST_KILOBYTES
            for hub, xprof in [self._pair(page, kind)]
        ]

    def targets(self) -> list[str]:
        """A sentence for each target."""
        lines = []
        for (page, kind), most in MOST_KILOBYTES.items():
            hub, _ = self._pair(page, kind)
            size = (hub.size - (hub.data_size if page == TRACE else 0)) / 1000
            apart = ", the data apart" if page == TRACE else ""
            lines.append(
                f"{page}, {kind}: {size:.1f} KB transferred{apart}, target at most {most:.0f}: "
                f"{verdict(size <= most)}"
            )
        for kind in (FIRST, REPEAT):
            hub, xprof = self._pair(OVERVIEW, kind)
            ratio = hub.milliseconds / xprof.milliseconds
            lines.append(
                f"overview, {kind}: the first figure after {ratio:.2f} times XProf's time, target at most "
                f"{MOST_FIGURE_RATIO}: {verdict(ratio <= MOST_FIGURE_RATIO)}"
            )
        return lines

    def _pair(self, page: str, kind: str) -> tuple[Opening, Opening]:
        found = self._openings
        return found[page, kind, Hub.name], found[page, kind, XprofServer.name]


def print_report(report: Report, about: str, machine: str, markdown: bool) -> None:
    """Prints everything; as Markdown, or aligned for a terminal."""
    print(f"xprof {XPROF_VERSION}; session: {about}\nmachine: {machine}\n")
    columns = ["KB", "of it data", "answers", "to other hosts"]
    times = ["first figure or events, ms", "XProf's own, ms"]
    print_table(["opening", "server", *columns, *times], report.rows(), markdown)
    print()
    ratios = ["KB", "first figure or events", "XProf's own"]
    print_table(
        ["opening", *(f"{name}, hub / xprof" for name in ratios)], report.ratios(), markdown
    )
    print()
    for line in report.targets():
        print(f"- {line}" if markdown else line)
