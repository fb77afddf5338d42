"""The loads that the bench knows, each from its fleet to its tables."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import psutil

from bench.load_test import report
from bench.load_test.disturbing import ADDRESSES, WORKERS, Disturber, too_long, waits_around
from bench.load_test.figures import FIRST_PAGE, figures_of
from bench.load_test.fleet import Fleet, Limits
from bench.load_test.leaks import Look, growths, verdict
from bench.load_test.plan import Plan
from bench.load_test.running import Outcome, play
from bench.load_test.singles import measure_singles
from bench.load_test.stage import Stage
from bench.load_test.watching import MEGABYTE, look_at

_PAUSE_SECONDS = 2.0
"""Between two clicks of a person."""
_JOB_SECONDS = 8.0
"""Between two new sessions of the job."""
_LOOK_SECONDS = 10.0
_REST_SECONDS = 20.0
"""After a load, until everything that it began is over."""
_CROWD_SECONDS, _CROWD_WORKERS = 3.0, 2
_SHOWN_ERRORS = 10
_SOAK_LIMITS = Limits(redis=64 << 20, results=32 << 20, scratch=32 << 20, artifacts=128 << 20)
"""So small that ten minutes fill them."""
Table = tuple[str, list[str]]


@dataclass
class Scene:
    """What came of a bench.

    Attributes:
        tables: with their titles.
        facts: all figures, for JSON.
        wrong: what must not be, in sentences.
        measured: parts of what the capacity model is compared with.
    """

    tables: list[Table] = field(default_factory=list)
    facts: dict[str, object] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    measured: dict[str, object] = field(default_factory=dict)


def steps(stage: Stage, counts: Sequence[int], seconds: float, people: int, seed: int) -> Scene:
    """The same people at more and more workers, each time from cold."""
    plan = stage.plan(seconds, people, seed, _PAUSE_SECONDS, _JOB_SECONDS)
    outcomes = []
    for count in counts:
        with stage.fleet(f"step-{count}", count) as fleet:
            outcomes.append(play(fleet, plan))
    tables = [
        ("How it grows with workers", report.growth_lines(outcomes)),
        ("What it costs", report.cost_lines(outcomes)),
        ("What was found where", report.hit_lines(outcomes)),
    ]
    for outcome in outcomes:
        tables.append((f"Requests, {outcome.workers} at work", report.kind_lines(outcome)))
    facts: dict[str, object] = {"steps": list(map(report.facts_of, outcomes))}
    cores = len(psutil.Process().cpu_affinity() or ()) or 1
    loads = [report.measured_load(outcome, cores) for outcome in outcomes]
    return Scene(tables, facts, _errors(outcomes), {"loads": loads})


def singles(stage: Stage, seed: int) -> Scene:
    """What single requests cost, for the capacity model."""
    costs = measure_singles(stage, seed)
    lines = [json.dumps(costs, indent=2)]
    return Scene([("Costs of single requests", lines)], {"costs": costs}, [], {"costs": costs})


def disturb(stage: Stage, seconds: float, people: int, seed: int) -> Scene:
    """Workers die, end and come while people look at links."""
    plan = stage.plan(seconds, people, seed, _PAUSE_SECONDS, _JOB_SECONDS)
    with stage.fleet("disturbed", WORKERS, ADDRESSES) as fleet:
        disturber = Disturber(fleet, seconds)
        outcome = play(fleet, plan, disturber.act)
        happened = disturber.happened()
    waits = waits_around(outcome.samples, happened)
    tables = [
        ("Answers around each event", report.disturbed_lines(happened, waits)),
        ("Requests", report.kind_lines(outcome)),
    ]
    facts = {"disturbed": report.facts_of(outcome), "waits": {k: list(v) for k, v in waits.items()}}
    return Scene(tables, facts, _errors([outcome]) + too_long(waits))


def crowd(stage: Stage, people: int, seed: int) -> Scene:
    """Many open one link that nobody has opened before, at nearly the same time."""
    plan = stage.plan(120, people, seed, _PAUSE_SECONDS, 0)
    plan = replace(plan, crowd_seconds=_CROWD_SECONDS)
    with stage.fleet("crowd", _CROWD_WORKERS) as fleet:
        outcome = play(fleet, plan)
    scene = Scene(
        [("Requests of the crowd", report.kind_lines(outcome))],
        {"crowd": report.facts_of(outcome)},
        _errors([outcome]),
    )
    shown = figures_of(FIRST_PAGE, outcome.samples).count
    if shown < people:
        scene.wrong.append(f"{people - shown} of {people} people never got the page")
    if (made := outcome.conversions.get("overview_page", 0)) != 1:
        scene.wrong.append(f"the overview was made {made:.0f} times for all of them")
    return scene


def soak(stage: Stage, seconds: float, people: int, seed: int) -> Scene:
    """An even load for long, and whether anything grows."""
    plan = stage.plan(seconds, people, seed, _PAUSE_SECONDS, _JOB_SECONDS)
    with stage.fleet("soak", 2, limits=_SOAK_LIMITS) as fleet:
        begin, looks, outcome = _watch(fleet, plan)
        time.sleep(_REST_SECONDS)
        rest = Look(outcome.seconds + _REST_SECONDS, look_at(fleet, time.time()))
    found = growths(looks)
    tables = [
        ("What grew", report.leak_lines(found)),
        ("Requests", report.kind_lines(outcome)),
    ]
    facts = {
        "soak": report.facts_of(outcome),
        "growth": {each.name: [each.first, each.last, each.most, each.a_minute] for each in found},
        "looks": [[look.seconds, dict(look.values)] for look in (begin, *looks, rest)],
    }
    return Scene(
        tables, facts, _errors([outcome]) + verdict(begin, looks, rest, _soak_limits(fleet))
    )


def _soak_limits(fleet: Fleet) -> dict[str, float]:
    """What caches may hold at most: their limits, and a tenth for what is on its way in or out."""
    limits = fleet.limits
    disk = limits.results + limits.scratch
    found = {"redis: held MB": limits.redis, "artifacts MB": limits.artifacts}
    found |= {f"worker-{number}: data MB": disk for number in range(fleet.addresses)}
    return {name: 1.1 * size / MEGABYTE for name, size in found.items()}


def _watch(fleet: Fleet, plan: Plan) -> tuple[Look, list[Look], Outcome]:
    """Plays a load and looks at everything now and then."""
    begin = Look(0.0, look_at(fleet, time.time()))
    looks: list[Look] = []

    def act(elapsed: float) -> None:
        if elapsed <= plan.seconds and elapsed >= (len(looks) + 1) * _LOOK_SECONDS:
            looks.append(Look(elapsed, look_at(fleet, time.time())))

    outcome = play(fleet, plan, act)
    return begin, looks, outcome


def _errors(outcomes: Sequence[Outcome]) -> list[str]:
    """What people saw as errors, in sentences."""
    found = [
        f"with {outcome.workers} at work: {sample.kind} after {sample.began:.1f} s: {sample.note}"
        for outcome in outcomes
        for sample in outcome.errors
    ]
    more = [f"and {len(found) - _SHOWN_ERRORS} more errors"] if len(found) > _SHOWN_ERRORS else []
    return found[:_SHOWN_ERRORS] + more


def leftover_processes() -> list[str]:
    """Processes that are still there after their fleet has ended; `adopt_orphans` makes them ours."""
    return [
        f"process {child.pid} is left: {' '.join(child.cmdline())}"
        for child in psutil.Process().children(recursive=True)
        if child.status() != psutil.STATUS_ZOMBIE
    ]
