"""What the samples of a load say: percentiles for each kind of request, and what people saw as an error."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from bench.capacity_model.simulation import percentile
from bench.load_test.plan import Outcome, Sample

FIRST_PAGE = "first page"
"""From the click to the overview's figures: no request, but what somebody waits for."""
KINDS = (
    "page",
    "file",
    "small",
    "tools",
    "overview",
    "trace",
    "zoom",
    "tool",
    "progress",
    "attach",
    "share",
)
UNSEEN = frozenset({"progress"})
"""A page goes on waiting whatever these say."""


@dataclass(frozen=True)
class KindFigures:
    """One kind of request.

    Attributes:
        kind: in words.
        count: requests with an answer.
        later: requests that were told to come later.
        failed: errors.
        first: seconds to the first byte, as percentiles 50, 95, 99.
        whole: seconds to the last byte, the same.
    """

    kind: str
    count: int
    later: int
    failed: int
    first: tuple[float, float, float]
    whole: tuple[float, float, float]


def spread(values: Sequence[float]) -> tuple[float, float, float]:
    """Percentiles 50, 95 and 99; each is a value that occurred."""
    ordered = list(values)
    return percentile(ordered, 0.5), percentile(ordered, 0.95), percentile(ordered, 0.99)


def figures_of(kind: str, samples: Sequence[Sample]) -> KindFigures:
    """The figures of one kind; times are those of answers."""
    mine = [sample for sample in samples if sample.kind == kind]
    outcomes = Counter(sample.outcome for sample in mine)
    answers = [sample for sample in mine if sample.outcome is Outcome.OK]
    return KindFigures(
        kind,
        outcomes[Outcome.OK],
        outcomes[Outcome.LATER],
        outcomes[Outcome.FAILED],
        spread([sample.first for sample in answers]),
        spread([sample.whole for sample in answers]),
    )


def all_figures(samples: Sequence[Sample]) -> list[KindFigures]:
    """Of the first page, then of each kind of request that occurred."""
    found = [figures_of(kind, samples) for kind in (FIRST_PAGE, *KINDS)]
    return [each for each in found if each.count or each.later or each.failed]


def seen_errors(samples: Sequence[Sample]) -> list[Sample]:
    """The requests of which a person saw an error."""
    return [
        sample
        for sample in samples
        if sample.outcome is Outcome.FAILED and sample.kind not in UNSEEN and sample.kind in KINDS
    ]
