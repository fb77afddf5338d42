"""The model beside a load test: what it says of the same people and machine, and what was measured."""

from __future__ import annotations

from collections.abc import Sequence

from bench.capacity_model.measured import Measured, MeasuredLoad
from bench.capacity_model.one_machine import OneMachine, Predicted
from bench.capacity_model.report import table
from bench.capacity_model.simulation import percentile
from bench.load_test.plan import PEOPLE

BEGIN = "<!-- made by python -m bench.capacity --compared -->"
END = "<!-- compared until here -->"
_SHARES = (0.5, 0.95, 0.99)


def predict(measured: Measured) -> list[tuple[MeasuredLoad, Predicted]]:
    """What the model says of each measured load."""
    return [(load, OneMachine(load, measured.costs, PEOPLE).run()) for load in measured.loads]


def compared_lines(pairs: Sequence[tuple[MeasuredLoad, Predicted]]) -> list[str]:
    """Two rows for each number of workers."""
    titles = (
        "workers",
        "",
        "openings a second",
        "requests a second",
        "first page, s: p50",
        "p95",
        "p99",
    )
    rows = []
    for load, said in pairs:
        rows.append((f"{load.workers}", "model", *_predicted(load, said)))
        rows.append((f"{load.workers}", "measured", *_measured(load)))
    return table((*titles, "kept", "cores busy"), rows)


def _predicted(load: MeasuredLoad, said: Predicted) -> tuple[str, ...]:
    waits = [percentile(said.waits, share) for share in _SHARES]
    openings, requests = said.openings / load.seconds, said.requests / load.seconds
    return _row(openings, requests, waits, said.kept, said.busy / load.seconds)


def _measured(load: MeasuredLoad) -> tuple[str, ...]:
    return _row(load.openings, load.requests, load.first_page, load.kept, load.busy)


def _row(
    openings: float, requests: float, waits: Sequence[float], kept: float, busy: float
) -> tuple[str, ...]:
    return (
        f"{openings:.2f}",
        f"{requests:.1f}",
        *(f"{wait:.2f}" for wait in waits),
        f"{kept:.0%}",
        f"{busy:.2f}",
    )


def cost_lines(measured: Measured) -> list[str]:
    """What the model is given: single requests."""
    costs = measured.costs
    rows = [
        (f"worker, {size.name}: {what}", f"{seconds * 1000:.0f}")
        for size in costs.sizes
        for what, seconds in (
            ("tools and overview", size.overview),
            ("first trace", size.trace),
            ("another tool", size.tool),
            ("zoom", size.zoom),
        )
    ]
    rows += [
        (f"front end: {what}", f"{seconds * 1000:.1f}")
        for what, seconds in (
            ("XProf's page", costs.page),
            ("a static file", costs.file),
            ("a small answer of its own", costs.small),
            ("an answer from the cache", costs.data),
            ("an answer that a worker makes, besides", costs.relayed),
        )
    ]
    rows.append(("the load's own process, any request", f"{costs.load * 1000:.1f}"))
    return table(("processor time of one request", "ms"), rows)


def markdown(measured: Measured) -> str:
    """Everything between the two marks of docs/capacity.md."""
    others = ", ".join(f"{load.others:.1f}" for load in measured.loads)
    first = measured.loads[0]
    about = (
        f"{first.people} people, a job, {first.sessions:,} sessions, {first.seconds:.0f} s from cold for "
        f"each number of workers; of {first.cores} cores other programs used {others} meanwhile."
    )
    return "\n".join(
        [
            BEGIN,
            "",
            f"Loads: {measured.loads_on}.",
            about,
            "",
            *compared_lines(predict(measured)),
            "",
            f"Single requests: {measured.costs_on}.",
            "",
            *cost_lines(measured),
            "",
            END,
        ]
    )
