"""Prints the bench's measurements as a table, the ratios, and whether the targets are met."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loader.engine.base import XPROF_VERSION

MOST_COLD_RATIO = 1.1
"""One user, nothing cached: XProf Hub's seconds over XProf's."""
LEAST_REPEAT_RATIO = 20.0
"""One user, everything cached: XProf's CPU seconds over XProf Hub's."""
_STEPS = {"overview": "first overview", "trace": "first trace", "repeat": "repeat of both"}
_XPROF, _HUB = "xprof", "XProf Hub"


@dataclass(frozen=True)
class Measurement:
    """One step of one server with one crowd.

    Attributes:
        contender: the server.
        users: users who opened it at once.
        what: `overview`, `trace` or `repeat`.
        seconds: until the last user had everything.
        cpu_seconds: of the server's whole process tree, for all users together.
        conversions: engine runs.
        complete: share of the users whose answers were complete, 0 to 1.
    """

    contender: str
    users: int
    what: str
    seconds: float
    cpu_seconds: float
    conversions: int
    complete: float


def print_report(
    measurements: Sequence[Measurement], about: str, machine: str, markdown: bool
) -> None:
    """Prints everything; as Markdown, or aligned for a terminal."""
    header = ["users", "step", "server", "seconds", "CPU seconds", "engine runs", "complete"]
    rows = [
        [
            str(each.users),
            _STEPS[each.what],
            each.contender,
            f"{each.seconds:.3f}",
            f"{each.cpu_seconds:.3f}",
            str(each.conversions),
            f"{each.complete:.0%}",
        ]
        for each in _ordered(measurements)
    ]
    print(f"xprof {XPROF_VERSION}; session: {about}\nmachine: {machine}\n")
    print_table(header, rows, markdown)
    print()
    print_table(
        ["users", "step", "seconds, hub / xprof", "CPU, xprof / hub"],
        _ratios(measurements),
        markdown,
    )
    print()
    for line in _targets(measurements):
        print(f"- {line}" if markdown else line)


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]], markdown: bool) -> None:
    """Prints rows below a header; as Markdown, or aligned for a terminal."""
    lines = [header, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    for number, line in enumerate(lines):
        cells = [cell.ljust(width) for cell, width in zip(line, widths, strict=True)]
        print(f"| {' | '.join(cells)} |" if markdown else "  ".join(cells).rstrip())
        if markdown and number == 0:
            print(f"|{'|'.join('-' * (width + 2) for width in widths)}|")


def _ordered(measurements: Sequence[Measurement]) -> list[Measurement]:
    steps = list(_STEPS)
    return sorted(
        measurements, key=lambda each: (each.users, steps.index(each.what), each.contender == _HUB)
    )


def _find(
    measurements: Sequence[Measurement], contender: str, users: int, what: str
) -> Measurement:
    for each in measurements:
        if (each.contender, each.users, each.what) == (contender, users, what):
            return each
    raise KeyError(f"{contender}, {users} users, {what} was not measured")


def _ratios(measurements: Sequence[Measurement]) -> list[list[str]]:
    rows = []
    for hub in _ordered(measurements):
        if hub.contender != _HUB:
            continue
        xprof = _find(measurements, _XPROF, hub.users, hub.what)
        # XProf answers errors at once: comparing them with answers would say nothing.
        comparable = xprof.complete == 1 and hub.complete == 1
        seconds = f"{hub.seconds / xprof.seconds:.2f}" if comparable else "-"
        cpu = f"{xprof.cpu_seconds / max(hub.cpu_seconds, 1e-6):.1f}" if comparable else "-"
        rows.append([str(hub.users), _STEPS[hub.what], seconds, cpu])
    return rows


def _targets(measurements: Sequence[Measurement]) -> list[str]:
    lines = []
    for what in ("overview", "trace"):
        xprof = _find(measurements, _XPROF, 1, what)
        hub = _find(measurements, _HUB, 1, what)
        ratio = hub.seconds / xprof.seconds
        lines.append(
            f"{_STEPS[what]}, one user: {ratio:.2f} times XProf's seconds, target at most "
            f"{MOST_COLD_RATIO}: {verdict(ratio <= MOST_COLD_RATIO)}"
        )
    one = _find(measurements, _HUB, 1, "overview").conversions
    most = max(users for users in {each.users for each in measurements})
    many = _find(measurements, _HUB, most, "overview").conversions
    lines.append(
        f"engine runs for the first overview: {many} for {most} users, {one} for one user, target "
        f"the same: {verdict(many == one)}"
    )
    repeat = _find(measurements, _XPROF, 1, "repeat").cpu_seconds
    ratio = repeat / max(_find(measurements, _HUB, 1, "repeat").cpu_seconds, 1e-6)
    lines.append(
        f"repeated open, one user: {ratio:.0f} times less CPU than XProf, target at least "
        f"{LEAST_REPEAT_RATIO:.0f}: {verdict(ratio >= LEAST_REPEAT_RATIO)}"
    )
    return lines


def verdict(met: bool) -> str:
    """Whether a target is met, in the report's word."""
    return "met" if met else "MISSED"
