"""What a worker tells of its conversions while they run, for metrics and traces.

`loader` knows neither: whoever composes a worker passes in an observer. An observer is called in the thread
of the conversion, must return at once, and must not raise.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from loader.engine.base import Converted
from loader.errors import LoaderError

OK = "ok"
_FAULT = "fault"
"""How a phase ended that a fault of ours ended."""


class Part(StrEnum):
    """The parts of a conversion whose time is taken."""

    WAIT = "wait"
    """For a turn."""
    DOWNLOAD = "download"
    INSPECT = "inspect"
    CONVERT = "convert"
    COMPRESS = "compress"
    PUBLISH = "publish"
    """Into caches and to other workers."""


class CacheLayer(StrEnum):
    """Where an answer, or what makes one cheap, is looked for."""

    DISK = "disk"
    REDIS = "redis"
    ARTIFACTS = "artifacts"
    KEPT_ANSWERS = "kept_answers"


class Lookup(StrEnum):
    """What came of looking."""

    HIT = "hit"
    MISS = "miss"
    FAILED = "failed"
    """The layer did not answer, or what it held could not be used."""


@dataclass(frozen=True)
class PartRecord:
    """One part of a conversion that has ended.

    Attributes:
        part: which.
        tool: XProf's name of the tool, from its fixed table.
        started_ns: Unix nanoseconds.
        seconds: wall clock.
        size: bytes that were moved or read; 0 where nobody counts them.
        outcome: `ok`, an error code, or `fault`.
    """

    part: Part
    tool: str
    started_ns: int
    seconds: float
    size: int
    outcome: str


@dataclass(frozen=True)
class ConversionRecord:
    """What an engine run cost.

    Attributes:
        tool: XProf's name of the tool.
        source: `profile`, or `artifact` when no profile was read.
        outcome: `ok` or an error code.
        converted: cost of the child, None when it gave no answer.
        reserved_bytes: memory that was set aside for it.
    """

    tool: str
    source: str
    outcome: str
    converted: Converted | None
    reserved_bytes: int = 0


class ConversionObserver(Protocol):
    """Told what goes on."""

    def part_ended(self, record: PartRecord) -> None:
        """A part of a conversion has ended, well or not."""

    def looked_up(self, layer: CacheLayer, outcome: Lookup) -> None:
        """A layer was asked, once for each answer that somebody wants."""


class Unobserved:
    """A `ConversionObserver` that forgets."""

    def part_ended(self, record: PartRecord) -> None:
        """See `ConversionObserver`."""

    def looked_up(self, layer: CacheLayer, outcome: Lookup) -> None:
        """See `ConversionObserver`."""


class Bytes:
    """How many bytes a part has moved so far; counted from any thread."""

    def __init__(self) -> None:
        self._sizes: list[int] = []

    def add(self, size: int) -> None:
        """So many more."""
        self._sizes.append(size)

    @property
    def total(self) -> int:
        """All of them."""
        return sum(self._sizes)


class Parts:
    """Takes the time of the parts of one tool's conversion.

    Args:
        observer: told of each.
        tool: whose they are.
    """

    def __init__(self, observer: ConversionObserver, tool: str) -> None:
        self._observer = observer
        self._tool = tool

    @contextmanager
    def timed(
        self, part: Part, least_seconds: float = 0.0, clock: Callable[[], float] = time.monotonic
    ) -> Iterator[Bytes]:
        """Takes the time of the context, whose bytes it counts itself.

        Args:
            part: what is done in it.
            least_seconds: what took less time and went well is nothing to tell of.
            clock: seconds that only grow.
        """
        moved, started_ns, started, outcome = Bytes(), time.time_ns(), clock(), _FAULT
        try:
            yield moved
            outcome = OK
        except LoaderError as error:
            outcome = error.code.value
            raise
        finally:
            seconds = clock() - started
            if seconds >= least_seconds or outcome != OK:
                record = PartRecord(part, self._tool, started_ns, seconds, moved.total, outcome)
                self._observer.part_ended(record)
