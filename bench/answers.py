"""Whether an answer is right: XProf's own answer to one user, asked in the same run, is what counts."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeGuard

from bench.users import Answer

Events = Sequence[Mapping[str, object]]


@dataclass(frozen=True)
class Window:
    """A zoom into a trace.

    Attributes:
        start_ms: its begin.
        end_ms: its end.
        resolution: events per row that can be told apart.
    """

    start_ms: float
    end_ms: float
    resolution: int

    def query(self) -> dict[str, str]:
        """As XProf's page asks for it."""
        return {
            "start_time_ms": repr(self.start_ms),
            "end_time_ms": repr(self.end_ms),
            "resolution": str(self.resolution),
        }


@dataclass(frozen=True)
class Expected:
    """XProf's answers, by the names of what was asked."""

    answers: dict[str, list[Answer]] = field(default_factory=dict)

    def is_right(self, name: str, given: Sequence[Answer], window: Window | None = None) -> bool:
        """Whether the answers say what XProf's say; the first ones to a name are XProf's."""
        if any(answer.status != 200 for answer in given):
            return False
        known = self.answers.setdefault(name, list(given))
        if window is not None:
            return shows_no_less(events(known[-1].data), events(given[-1].data), window)
        return all(
            is_same(theirs.data, ours.data) for theirs, ours in zip(known, given, strict=True)
        )

    def windows(self, name: str, count: int, resolution: int) -> list[Window]:
        """Zooms into the trace of that name, each a fiftieth of it, spread over its events."""
        drawn = bars(events(self.answers[name][-1].data))
        first = min(begin for begin, _ in drawn)
        length = max(end for _, end in drawn) - first
        starts = (first + length * (number + 0.5) / count for number in range(count))
        return [Window(start / 1000, (start + length / 50) / 1000, resolution) for start in starts]


def events(answer: bytes) -> Events:
    """The events of a trace."""
    found: Events = json.loads(answer)["traceEvents"]
    return found


def bars(found: Events) -> list[tuple[float, float]]:
    """Begin and end, in microseconds, of what is drawn as a bar."""
    return [_extent(event) for event in found if event.get("ph") == "X"]


def _extent(event: Mapping[str, object]) -> tuple[float, float]:
    begin, duration = event["ts"], event.get("dur", 0)
    assert isinstance(begin, int | float)
    assert isinstance(duration, int | float)
    return float(begin), float(begin + duration)


def is_same(theirs: bytes, ours: bytes) -> bool:
    """Whether two JSON answers hold the same values; XProf fills some lists in the order of hash tables.

    The numbers that tie events of a trace together (`bind_id`) differ from process to process; what counts
    is which events they tie.
    """
    if theirs == ours:
        return True
    first, second = json.loads(theirs), json.loads(ours)
    return _flows(first) == _flows(second) and unordered(first) == unordered(second)


def _flows(answer: object) -> Counter[str]:
    """Takes the flows' numbers out of a trace; its flows as texts, counted."""
    flows: dict[object, list[str]] = defaultdict(list)
    for event in answer["traceEvents"] if _is_trace(answer) else ():
        flow = event.pop("bind_id", None)
        if flow is not None:
            flows[flow].append(_text(event))
    return Counter("\n".join(sorted(tied)) for tied in flows.values())


def _is_trace(answer: object) -> TypeGuard[dict[str, list[dict[str, object]]]]:
    return isinstance(answer, dict) and "traceEvents" in answer


def unordered(value: object) -> object:
    """The value with every list as a count of its members."""
    if isinstance(value, dict):
        return {name: unordered(part) for name, part in value.items()}
    if isinstance(value, list):
        return Counter(_text(unordered(part)) for part in value)
    return value


def _text(value: object) -> str:
    return json.dumps(value, sort_keys=True)


def shows_no_less(theirs: Events, ours: Events, window: Window) -> bool:
    """Whether whoever looks at the window finds in our events what XProf's show (docs/adr/016).

    Every bar of at least a pixel is there, and there are no fewer bars.
    """
    start, end = window.start_ms * 1000, window.end_ms * 1000
    pixel = (end - start) / window.resolution
    kept = {_untied(event) for event in ours}
    visible = [
        event
        for event in theirs
        if event.get("ph") == "X" and _extent(event)[1] - _extent(event)[0] >= pixel
    ]
    within = [1 for begin, finish in bars(ours) if begin <= end and finish >= start]
    return all(_untied(event) in kept for event in visible) and len(within) >= len(bars(theirs)) > 0


def _untied(event: Mapping[str, object]) -> str:
    return _text({name: value for name, value in event.items() if name != "bind_id"})
