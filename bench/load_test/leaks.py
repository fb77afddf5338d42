"""Whether something grows that should not: the verdict over samples of a long, even load."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import median

WARM_SHARE = 1 / 3
"""The first part of a soak, in which caches fill."""
LIMITS_A_MINUTE: Mapping[str, float] = {
    "MB": 1.0,
    "lasting children MB": 1.0,
    "files": 0.5,
    "threads": 0.5,
    "processes": 0.2,
    "job folders": 0.2,
}
"""How much each may grow in a minute after that, by the last word of its name."""
ELSEWHERE = frozenset({"redis: MB"})
"""What another limit holds: Redis's own, below."""
_COME_AND_GO = frozenset({"files", "threads", "processes", "job folders"})
"""What follows the load: it leaks only if it is still there when the load has ended."""
NEVER = ("redis: keys without end",)
"""What may not be there at all, at any look."""
LEFT = (
    "workers: job folders",
    "redis: leases",
)
"""What may not be there once the load has ended."""


@dataclass(frozen=True)
class Look:
    """One look at everything.

    Attributes:
        seconds: since the load began.
        values: by name.
    """

    seconds: float
    values: Mapping[str, float]


@dataclass(frozen=True)
class Growth:
    """How one figure went.

    Attributes:
        name: whose.
        first: when the caches were warm, and
        last: at the end of the load: medians of a fifth of the looks, for some figures swing.
        most: at any look.
        a_minute: what it grew by in a minute, as the median of all pairs of looks says.
        limit: of that; None where growing is no fault.
    """

    name: str
    first: float
    last: float
    most: float
    a_minute: float
    limit: float | None

    @property
    def is_leak(self) -> bool:
        """Whether it grows more than it may."""
        return self.limit is not None and self.a_minute > self.limit


def slope(points: Sequence[tuple[float, float]]) -> float:
    """The median of the slopes between all pairs of points; single peaks don't move it. 0 of one point."""
    slopes = [(y2 - y1) / (x2 - x1) for (x1, y1), (x2, y2) in combinations(points, 2) if x2 != x1]
    return median(slopes) if slopes else 0.0


def growth_of(name: str, looks: Sequence[Look]) -> Growth:
    """How a figure went after the warm-up; `looks` are those of the load, the first at its begin."""
    end = looks[-1].seconds
    points = [(look.seconds, look.values[name]) for look in looks if name in look.values]
    warm = [point for point in points if point[0] >= end * WARM_SHARE] or points[-1:]
    fifth = max(1, len(warm) // 5)
    return Growth(
        name,
        median(value for _, value in warm[:fifth]),
        median(value for _, value in warm[-fifth:]),
        max(value for _, value in points),
        60 * slope(warm),
        None if name in ELSEWHERE else LIMITS_A_MINUTE.get(name.partition(": ")[2]),
    )


def growths(looks: Sequence[Look]) -> list[Growth]:
    """All figures, by name."""
    return [
        growth_of(name, looks) for name in sorted({name for look in looks for name in look.values})
    ]


def verdict(begin: Look, looks: Sequence[Look], rest: Look, most: Mapping[str, float]) -> list[str]:
    """What is wrong, in sentences; empty when nothing is.

    Args:
        begin: before the load.
        looks: while it ran.
        rest: some time after its end, when everything should be as at the begin but for the caches.
        most: what some figures may be at most, at any look.
    """
    wrong = [
        f"{each.name} grew by {each.a_minute:.2f} a minute, from {each.first:.1f} to {each.last:.1f}; "
        f"at most {each.limit:g} are allowed"
        for each in growths(looks)
        if each.is_leak and not _has_gone(each, rest)
    ]
    for name, allowed in {**dict.fromkeys(NEVER, 0.0), **most}.items():
        seen = max(look.values.get(name, 0) for look in (*looks, rest))
        if seen > allowed:
            wrong.append(f"{name}: {seen:.1f} at some look, at most {allowed:.1f} are allowed")
    for name in LEFT:
        if left := rest.values.get(name, 0):
            wrong.append(f"{name}: {left:g} left after the load, there should be none")
    for name, before in begin.values.items():
        after = rest.values.get(name, before)
        unit = name.partition(": ")[2]
        if (unit == "processes" or name.startswith("rows: ")) and after > before:
            wrong.append(f"{name}: {before:g} before the load, {after:g} after it")
    return wrong


def _has_gone(growth: Growth, rest: Look) -> bool:
    """Whether what grew under load, and may, is down again when the load has ended."""
    is_passing = growth.name.partition(": ")[2] in _COME_AND_GO
    return is_passing and rest.values.get(growth.name, growth.last) <= growth.first
