"""How much memory a conversion will need, from the sizes of what it reads and from what others needed.

XProf 2.24.2 takes 20 to 28 times a profile's bytes (measured), less for each further host because it reads
them one after the other (16 hosts of 4.8 MB: 0.75 GB; 64 of 2 MB: 0.59 GB), and 700 to 900 bytes for each
event however small. To list tools or modules it keeps nothing of a host when it reads the next (64 hosts of
2 MB: 54 MB). What was measured here moves these numbers, each tool by itself. Nothing is kept over a restart.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass

from loader.tools import MODULE_LIST, RUN_TOOLS

CHILD_BYTES = 150 << 20
"""No conversion is expected to need less."""
_BASE_BYTES = 100 << 20
"""What a child has before it reads anything."""
_LEAST, _MOST = 2.0, 60.0
_MARGIN = 1.1
_STEP = 0.1
"""How much of the way to a measurement a factor goes; the high end goes up at once."""
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


@dataclass(frozen=True)
class _Rule:
    """What one end of an estimate begins with.

    Attributes:
        factor: bytes of memory for a byte that is read.
        further: what a further host adds, as a share of what it would need alone.
        event: bytes of memory for an event.
    """

    factor: float
    further: float
    event: int

    def weight(self, numbers: Sequence[int]) -> float:
        """The largest, and a share of the others."""
        largest = max(numbers, default=0)
        return largest + self.further * (sum(numbers) - largest)


@dataclass(frozen=True)
class _Rules:
    """How much at least, and at most."""

    low: _Rule
    high: _Rule


_WHOLE = _Rules(_Rule(20.0, 0.2, 300), _Rule(28.0, 1.0, 700))
_LISTS = _Rules(_Rule(5.0, 0.0, 100), _Rule(14.0, 0.0, 250))
"""200,000 events in 8.3 MB: 79 MB, of which 42 are there without any."""
_ARTIFACTS = _Rules(_Rule(0.0, 0.0, 0), _Rule(4.0, 1.0, 0))


@dataclass
class _Factors:
    """Bytes of memory for a byte that is read, as far as they were learnt."""

    rules: _Rules
    low: float
    high: float

    def learn(self, low: float, high: float) -> None:
        """Moves towards a measurement: up at once where others must be kept from memory, else slowly.

        One profile that is padded with bytes that cost nothing must not have too little set aside for others.
        """
        if high > self.high:
            self.high = min(high, _MOST)
        else:
            self.high = max(self.high + _STEP * (high - self.high), _LEAST)
        aim = min(max(low, _LEAST), self.rules.low.factor)
        self.low += _STEP * (aim - self.low)


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
        at_least, at_most = factors.rules.low, factors.rules.high
        least = max(
            low * at_least.weight(reading.sizes), at_least.event * at_least.weight(reading.events)
        )
        most = max(
            high * at_most.weight(reading.sizes), at_most.event * at_most.weight(reading.events)
        )
        return Estimate(int(least), max(int(most), int(least), CHILD_BYTES))

    def learn(self, reading: Reading, peak_bytes: int) -> None:
        """Takes in what a conversion needed at most."""
        grown = max(peak_bytes - _BASE_BYTES, 0)
        with self._lock:
            factors = self._of(reading)
            least = factors.rules.low.weight(reading.sizes)
            most = factors.rules.high.weight(reading.sizes)
            if most >= _LEAST_BYTES_TO_LEARN_FROM:
                factors.learn(grown / least, grown * _MARGIN / most)

    def _of(self, reading: Reading) -> _Factors:
        rules = _rules_for(reading)
        return self._factors.setdefault(
            (reading.tool, reading.source), _Factors(rules, rules.low.factor, rules.high.factor)
        )


def _rules_for(reading: Reading) -> _Rules:
    if reading.source != "profile":
        return _ARTIFACTS
    return _LISTS if reading.tool in {RUN_TOOLS, MODULE_LIST} else _WHOLE
