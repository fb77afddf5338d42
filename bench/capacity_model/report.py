"""The tables of docs/capacity.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bench.capacity_model import costs, prices
from bench.capacity_model.scenarios import PLATFORMS, Platform, Scenario
from bench.capacity_model.simulation import (
    Outcome,
    Simulation,
    bill_of,
    idle_bill,
    percentile,
)

_DAY = 86_400.0
BEGIN, END = "<!-- made by python -m bench.capacity --markdown -->", "<!-- made until here -->"


@dataclass(frozen=True)
class Result:
    """One scenario on one platform, and what came of it."""

    scenario: Scenario
    platform: Platform
    outcome: Outcome


def simulate(scenarios: Sequence[Scenario]) -> list[Result]:
    """Plays scenarios on every platform."""
    return [
        Result(scenario, platform, Simulation(scenario, platform).run())
        for scenario in scenarios
        for platform in PLATFORMS
    ]


def table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A table in Markdown, line by line."""
    rule = "| " + " | ".join("---" for _ in titles) + " |"
    return [f"| {' | '.join(titles)} |", rule, *(f"| {' | '.join(row)} |" for row in rows)]


def parameter_lines() -> list[str]:
    """What the model is given."""
    numbers = (*costs.PARAMETERS, costs.ARTIFACT_SHARE)
    return table(
        ("parameter", "value", "source"),
        [(one.name, f"{one.value:,g} {one.unit}", one.source) for one in numbers],
    )


def profile_lines() -> list[str]:
    """The classes of sessions."""
    titles = ("sessions", "share", "MB", "overview", "again", "trace", "again", "tool", "zoom")
    rows = [
        (
            one.name,
            f"{one.share:.0%}",
            f"{one.megabytes:g}",
            *(
                f"{seconds:g}"
                for seconds in (
                    one.overview,
                    one.overview_again,
                    one.trace,
                    one.trace_again,
                    one.tool,
                    one.zoom,
                )
            ),
            one.source,
        )
        for one in costs.PROFILES
    ]
    return table((*titles, "source"), rows)


def price_lines() -> list[str]:
    """Prices."""
    return table(
        ("price", "US$", "for one", "source"),
        [
            (one.name, f"{one.dollars:.7f}".rstrip("0"), one.unit, one.source)
            for one in prices.PRICES
        ],
    )


def waiting_lines(results: Sequence[Result]) -> list[str]:
    """How long people waited, and what was there already."""
    titles = (
        "scenario",
        "on",
        "first page, s: p50",
        "p95",
        "p99",
        "first pages to be made",
        "s: p50",
        "p95",
        "p99",
        "all answers: kept",
        "joined",
    )
    return table(titles, [_waiting_row(result) for result in results])


def _waiting_row(result: Result) -> tuple[str, ...]:
    outcome, counts = result.outcome, result.outcome.counts
    return (
        result.scenario.name,
        result.platform.name,
        *(f"{percentile(outcome.waits, share):.2f}" for share in (0.5, 0.95, 0.99)),
        f"{len(outcome.miss_waits) / len(outcome.waits):.1%}",
        *(f"{percentile(outcome.miss_waits, share):.1f}" for share in (0.5, 0.95, 0.99)),
        f"{counts.hits / counts.asked:.0%}",
        f"{counts.joined / counts.asked:.1%}",
    )


def size_lines(results: Sequence[Result]) -> list[str]:
    """Instances and dollars."""
    titles = (
        "scenario",
        "on",
        "front ends: mean",
        "most",
        "workers: mean",
        "most",
        "compute",
        "stores",
        "storage",
        "network",
        "cluster",
        "a month",
        "of it idle",
    )
    return table(titles, [_size_row(result) for result in results])


def _size_row(result: Result) -> tuple[str, ...]:
    outcome = result.outcome
    bill = bill_of(result.scenario, result.platform, outcome)
    idle = idle_bill(result.scenario, result.platform)
    return (
        result.scenario.name,
        result.platform.name,
        f"{outcome.front_seconds / outcome.days / _DAY:.2f}",
        f"{outcome.most_fronts}",
        f"{outcome.worker_seconds / outcome.days / _DAY:.2f}",
        f"{outcome.most_workers}",
        *(
            f"{dollars:,.0f}"
            for dollars in (
                bill.compute,
                bill.stores,
                bill.storage,
                bill.network,
                bill.fixed,
                bill.total,
                idle.total,
            )
        ),
    )


def markdown(results: Sequence[Result]) -> str:
    """Everything between the two marks of docs/capacity.md."""
    parts = (
        ("How long people wait", waiting_lines(results)),
        ("Instances, and US dollars a month", size_lines(results)),
        ("What the model is given", parameter_lines()),
        ("Seconds of a worker's slot", profile_lines()),
        ("Prices", price_lines()),
    )
    lines = [BEGIN]
    for title, rows in parts:
        lines += ["", f"## {title}", "", *rows]
    return "\n".join([*lines, "", END])
