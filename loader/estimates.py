"""How much memory a conversion will need, from the sizes of what it reads and from what others needed.

XProf 2.24.2 takes 20 to 28 times a profile's bytes (measured), less for each further host because it reads
them one after the other (16 hosts of 4.8 MB: 0.75 GB), and 700 to 900 bytes for each event however small.
What was measured here moves these numbers, each tool by itself. Nothing is kept over a restart.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass

CHILD_BYTES = 150 << 20
"""No conversion is expected to need less."""
_BASE_BYTES = 100 << 20
"""What a child has before it reads anything."""
_HIGH, _LOW = 28.0, 20.0
_HIGH_FROM_ARTIFACTS, _LOW_FROM_ARTIFACTS = 4.0, 0.0
_LEAST, _MOST = 2.0, 60.0
_FURTHER_HOSTS = 0.4
"""What a further host adds, as a share of what it would need alone: the low end of what was measured."""
_HIGH_PER_EVENT, _LOW_PER_EVENT = 700, 300
_MARGIN = 1.1
_STEP = 0.1
"""How much of the way to a milder measurement a factor goes; to a sterner one it goes at once."""
_LEAST_BYTES_TO_LEARN_FROM = 4 << 20
"""Of less, a conversion's fixed costs say more than its bytes."""


@dataclass(frozen=True)
class Reading:
    """What a conversion reads.

    Attributes:
        tool: XProf's name of the tool.
        source: `profile` or `artifact`.
        sizes: bytes of each host's profile, or of each file of the artifact set.
        events: number of events of each host, where they were counted.
    """

    tool: str
    source: str
    sizes: Sequence[int]
    events: Sequence[int] = ()


@dataclass(frozen=True)
class Estimate:
    """Bytes of memory.

    Attributes:
        low: less would be a surprise; to refuse by.
        high: more would be a surprise; to set aside.
    """

    low: int
    high: int


@dataclass
class _Factors:
    """Bytes of memory for a byte that is read."""

    low: float
    high: float

    def learn(self, low: float, high: float) -> None:
        """Moves towards a measurement: at once where it was outside, slowly where it was inside."""
        if high > self.high:
            self.high = min(high, _MOST)
        else:
            self.high = max(self.high + _STEP * (high - self.high), _LEAST)
        if low < self.low:
            self.low = max(low, _LEAST)
        else:
            self.low += _STEP * (min(low, _LOW) - self.low)


class Estimates:
    """Estimates conversions and learns from them. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._factors: dict[tuple[str, str], _Factors] = {}

    def of(self, reading: Reading) -> Estimate:
        """What a conversion will need, by what is known now."""
        with self._lock:
            factors = self._of(reading)
            low, high = factors.low, factors.high
        events = reading.events if reading.source == "profile" else ()
        least = max(low * _weight(reading.sizes), _LOW_PER_EVENT * _weight(events))
        most = max(high * sum(reading.sizes), _HIGH_PER_EVENT * sum(events))
        return Estimate(int(least), max(int(most), int(least), CHILD_BYTES))

    def learn(self, reading: Reading, peak_bytes: int) -> None:
        """Takes in what a conversion needed at most."""
        if sum(reading.sizes) < _LEAST_BYTES_TO_LEARN_FROM:
            return
        grown = max(peak_bytes - _BASE_BYTES, 0)
        with self._lock:
            self._of(reading).learn(
                grown / _weight(reading.sizes), grown * _MARGIN / sum(reading.sizes)
            )

    def _of(self, reading: Reading) -> _Factors:
        start = (_LOW, _HIGH)
        if reading.source != "profile":
            start = (_LOW_FROM_ARTIFACTS, _HIGH_FROM_ARTIFACTS)
        return self._factors.setdefault((reading.tool, reading.source), _Factors(*start))


def _weight(numbers: Sequence[int]) -> float:
    """The largest, and a share of the others."""
    if not numbers:
        return 0.0
    return max(numbers) + _FURTHER_HOSTS * (sum(numbers) - max(numbers))
