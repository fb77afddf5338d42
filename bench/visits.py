"""What people do with a link: which one they open, and what they look at; drawn by chance, seeded.

The capacity model and the load test draw from here, so that both play the same people. Nothing here knows
of a server.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Habits:
    """How often people do what.

    Attributes:
        new_people: share of openings by somebody whose browser has nothing of the hub yet.
        trace: share that looks at the trace.
        tool: share that looks at another tool.
        zooms: of who looks at the trace.
        windows: among which they choose when they zoom.
        tools: among which they choose.
    """

    new_people: float
    trace: float
    tool: float
    zooms: int
    windows: int
    tools: int


@dataclass(frozen=True)
class Visit:
    """What one person does with one link.

    Attributes:
        has_trace: whether he looks at the trace.
        zooms: numbers of the windows that he looks at then.
        tool: number of another tool, or None.
    """

    has_trace: bool
    zooms: tuple[int, ...]
    tool: int | None


def rank_of(chance: float, count: int) -> int:
    """A rank from 0, by Zipf's law with exponent 1: the first is chosen about twice as often as the second.

    Args:
        chance: equally distributed from 0 to 1.
        count: of all that can be chosen.
    """
    return int(math.exp(chance * math.log(count + 1))) - 1


def class_of(session: int, shares: Sequence[float]) -> int:
    """The class of a session: always the same one for the same number, in the classes' shares."""
    place = session * 0.6180339887498949 % 1.0
    for number, share in enumerate(shares):
        place -= share
        if place < 0:
            return number
    return len(shares) - 1


def draw_visit(rng: random.Random, habits: Habits) -> Visit:
    """What somebody looks at besides the first page."""
    zooms: tuple[int, ...] = ()
    has_trace = rng.random() < habits.trace
    if has_trace:
        zooms = tuple(int(rng.random() * habits.windows) for _ in range(habits.zooms))
    tool = int(rng.random() * habits.tools) if rng.random() < habits.tool else None
    return Visit(has_trace, zooms, tool)
