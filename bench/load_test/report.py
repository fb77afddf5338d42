"""What a load test says: tables in Markdown, and everything as plain data for JSON."""

from __future__ import annotations

from collections.abc import Sequence

from bench.capacity_model.report import table
from bench.load_test.disturbing import Happened, Waits
from bench.load_test.figures import FIRST_PAGE, KindFigures, all_figures, figures_of
from bench.load_test.leaks import Growth
from bench.load_test.running import Outcome

_SHARES = ("p50", "p95", "p99")


def requests_of(outcome: Outcome) -> int:
    """All requests, without what is no request of its own."""
    return sum(sample.kind != FIRST_PAGE for sample in outcome.samples)


def growth_lines(outcomes: Sequence[Outcome]) -> list[str]:
    """How throughput and waiting grow with the workers."""
    titles = ("workers", "openings", "requests", "a second", "openings a second")
    waits = ("first page, s: p50", "p95", "p99", "made by the engine", "kept", "errors seen")
    return table((*titles, *waits), [_growth_row(outcome) for outcome in outcomes])


def _growth_row(outcome: Outcome) -> tuple[str, ...]:
    first, requests = figures_of(FIRST_PAGE, outcome.samples), requests_of(outcome)
    return (
        f"{outcome.workers}",
        f"{first.count}",
        f"{requests:,}",
        f"{requests / outcome.plan.seconds:.1f}",
        f"{first.count / outcome.plan.seconds:.2f}",
        *(f"{value:.2f}" for value in first.whole),
        f"{sum(outcome.conversions.values()):.0f}",
        f"{outcome.hit_rates[0].share:.0%}",
        f"{len(outcome.errors)}",
    )


def cost_lines(outcomes: Sequence[Outcome]) -> list[str]:
    """Processor time, by part and for one opening."""
    titles = ("workers", "cores busy: front", "workers", "Redis", "the load itself", "others")
    each = ("CPU s of an opening: front", "workers", "openings a second and core")
    return table((*titles, *each), [_cost_row(outcome) for outcome in outcomes])


def _cost_row(outcome: Outcome) -> tuple[str, ...]:
    opened = max(1, figures_of(FIRST_PAGE, outcome.samples).count)
    front, workers, kept, load = map(outcome.cpu_of, ("front", "worker", "redis", "load"))
    return (
        f"{outcome.workers}",
        *(f"{seconds / outcome.seconds:.2f}" for seconds in (front, workers, kept, load)),
        f"{outcome.others:.2f}",
        f"{front / opened:.3f}",
        f"{workers / opened:.3f}",
        f"{opened / max(front + workers + kept, 1e-9):.2f}",
    )


def kind_lines(outcome: Outcome) -> list[str]:
    """Each kind of request."""
    titles = (
        "request",
        "answers",
        "told to come later",
        "errors",
        "first byte, s: p50",
        "p95",
        "p99",
    )
    return table(
        (*titles, "complete, s: p50", "p95", "p99"),
        [_kind_row(each) for each in all_figures(outcome.samples)],
    )


def _kind_row(each: KindFigures) -> tuple[str, ...]:
    counts = (f"{each.count:,}", f"{each.later}", f"{each.failed}")
    # What is no request has no first byte.
    first = ("",) * 3 if each.kind == FIRST_PAGE else tuple(f"{value:.3f}" for value in each.first)
    return (each.kind, *counts, *first, *(f"{value:.3f}" for value in each.whole))


def hit_lines(outcomes: Sequence[Outcome]) -> list[str]:
    """Hit rates of each layer, for each number of workers."""
    layers = list(dict.fromkeys(rate.layer for outcome in outcomes for rate in outcome.hit_rates))
    rows = []
    for layer in layers:
        row = [layer]
        for outcome in outcomes:
            rates = [rate for rate in outcome.hit_rates if rate.layer == layer]
            row.append(f"{rates[0].share:.0%} of {rates[0].asked:,}" if rates else "")
        rows.append(row)
    return table(("found in", *(_workers(outcome.workers) for outcome in outcomes)), rows)


def _workers(count: int) -> str:
    return f"{count} worker{'s' if count != 1 else ''}"


def disturbed_lines(happened: Sequence[Happened], waits: Waits) -> list[str]:
    """What happened, and how long answers took then."""
    rows = []
    for what, (count, whole, most) in waits.items():
        times = [one for one in happened if one.what == what]
        at, took = (f"{times[0].at:.0f}", f"{times[0].took:.1f}") if times else ("", "")
        seconds = [f"{value:.2f}" for value in (*whole, most)]
        rows.append([what, at, took, f"{count}", *seconds])
    titles = ("what", "at, s", "took, s", "answers", *(f"s: {share}" for share in _SHARES), "most")
    return table(titles, rows)


def leak_lines(found: Sequence[Growth]) -> list[str]:
    """What is watched in a soak."""
    titles = ("what", "when warm", "at the end", "most", "a minute", "allowed")
    rows = []
    for each in found:
        figures = (f"{value:,.1f}" for value in (each.first, each.last, each.most))
        allowed = "" if each.limit is None else f"{each.limit:g}"
        rows.append((each.name, *figures, f"{each.a_minute:+.2f}", allowed))
    return table(titles, rows)


def measured_load(outcome: Outcome, cores: int) -> dict[str, object]:
    """What the capacity model is compared with, as `bench.capacity_model.measured` reads it.

    Args:
        outcome: of a load.
        cores: of the machine.
    """
    plan, seconds = outcome.plan, outcome.plan.seconds
    first = figures_of(FIRST_PAGE, outcome.samples)
    # The model's people don't ask how far an answer is.
    asked = requests_of(outcome) - figures_of("progress", outcome.samples).count
    return {
        "workers": outcome.workers,
        "people": plan.people,
        "seconds": seconds,
        "pause": plan.pause,
        "job_seconds": plan.job_seconds,
        "sessions": len(plan.links),
        "cores": cores,
        "others": round(outcome.others, 2),
        "openings": round(first.count / seconds, 3),
        "requests": round(asked / seconds, 2),
        "first_page": [round(value, 3) for value in first.whole],
        "kept": round(outcome.hit_rates[0].share, 3),
        "busy": round(sum(outcome.cpu.values()) / outcome.seconds, 2),
    }


def facts_of(outcome: Outcome) -> dict[str, object]:
    """An outcome as plain data, without the single requests."""
    return {
        "workers": outcome.workers,
        "people": outcome.plan.people,
        "pause_seconds": outcome.plan.pause,
        "seconds": outcome.plan.seconds,
        "seed": outcome.plan.seed,
        "sessions": len(outcome.plan.links),
        "requests": requests_of(outcome),
        "kinds": {
            each.kind: {
                "answers": each.count,
                "later": each.later,
                "errors": each.failed,
                "first_byte_seconds": dict(zip(_SHARES, each.first, strict=True)),
                "complete_seconds": dict(zip(_SHARES, each.whole, strict=True)),
            }
            for each in all_figures(outcome.samples)
        },
        "errors_seen": [f"{each.kind}: {each.note}" for each in outcome.errors],
        "cpu_seconds": dict(outcome.cpu),
        "hit_rates": {rate.layer: [rate.hits, rate.asked] for rate in outcome.hit_rates},
        "conversions": dict(outcome.conversions),
        "counters": dict(outcome.counters),
        "cores_of_others": outcome.others,
    }
