"""Step times from XProf's `pod_viewer`: one answer that holds every step of every core of every host.

In that answer, as in XProf's overview, a step lasts as long as on its slowest core (xprof 2.24.2: mean and
extremes of these are the overview's `steptime_ms_average`, `_minimum` and `_maximum`).
"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from server.figures.shapes import amount, mapping, name, sequence
from server.figures.values import MOST_HOSTS, MOST_POINTS, HostFigures, StepPart, Steps

_US_PER_MS = 1000.0


@dataclass
class _Host:
    """What was seen of a host: its steps in milliseconds, and the sums of their parts."""

    steps: list[float] = field(default_factory=list)
    parts: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    cores: int = 0

    def figures(self, called: str) -> HostFigures:
        """The averages."""
        parts = [StepPart(part, total / self.cores) for part, total in self.parts.items()]
        parts.sort(key=lambda part: (-part.average_ms, part.name))
        return HostFigures(called, statistics.fmean(self.steps), max(self.steps), tuple(parts))


def read_steps(answer: object) -> tuple[list[float], tuple[HostFigures, ...]]:
    """Time of each step in milliseconds, in order, and the hosts, slowest first; both may be empty."""
    words = _words(answer)
    hosts: defaultdict[str, _Host] = defaultdict(_Host)
    times = []
    for step in sequence(mapping(mapping(answer).get("podStatsSequence")).get("podStatsMap")):
        slowest = _note_step(mapping(mapping(step).get("podStatsPerCore")), words, hosts)
        if slowest:
            times.append(max(slowest.values()))
            for host, longest in slowest.items():
                hosts[host].steps.append(longest)
    found = [host.figures(called) for called, host in hosts.items() if host.steps]
    found.sort(key=lambda host: (-host.average_step_ms, host.name))
    return times, tuple(found[:MOST_HOSTS])


def _words(answer: object) -> Mapping[str, str]:
    """XProf's words for the parts of a step, by their numbers as texts."""
    return {
        str(mapping(event).get("id")): name(mapping(event).get("name"))
        for event in sequence(mapping(answer).get("stepBreakdownEvents"))
    }


def _note_step(
    cores: Mapping[str, object], words: Mapping[str, str], hosts: defaultdict[str, _Host]
) -> dict[str, float]:
    """Adds a step's parts to the hosts; how long it took on each host's slowest core."""
    slowest: dict[str, float] = {}
    for core in map(mapping, cores.values()):
        total = amount(core.get("totalDurationUs"))
        if not total:
            continue
        host = name(core.get("hostName"))
        slowest[host] = max(slowest.get(host, 0.0), total / _US_PER_MS)
        hosts[host].cores += 1
        for part, value in mapping(core.get("stepBreakdownUs")).items():
            time = amount(value)
            if time and words.get(part):
                hosts[host].parts[words[part]] += time / _US_PER_MS
    return slowest


def steps_of(times: Sequence[float]) -> Steps | None:
    """What can be said of all steps together; None without one."""
    if not times:
        return None
    ordered = sorted(times)
    return Steps(
        count=len(ordered),
        average=statistics.fmean(ordered),
        median=statistics.median(ordered),
        ninetieth=ordered[math.ceil(0.9 * len(ordered)) - 1],
        shortest=ordered[0],
        longest=ordered[-1],
        deviation=statistics.pstdev(ordered),
    )


def thinned(times: Sequence[float], most: int = MOST_POINTS) -> tuple[float, ...]:
    """The times in order, or as many averages of neighbours; parts differ in size by one at most."""
    if len(times) <= most:
        return tuple(times)
    ends = [len(times) * part // most for part in range(most + 1)]
    return tuple(statistics.fmean(times[begin:end]) for begin, end in pairwise(ends))
