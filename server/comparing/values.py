"""What a comparison of two sessions says. Left is what the right one is compared with."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True)
class Change:
    """A number on both sides.

    Attributes:
        left: None when the left session does not say it.
        right: likewise.
    """

    left: float | None
    right: float | None

    @property
    def difference(self) -> float | None:
        """Right minus left; None unless both are known."""
        if self.left is None or self.right is None:
            return None
        return self.right - self.left

    @property
    def percent(self) -> float | None:
        """How much more the right one is, in percent of the left one; None where that says nothing."""
        difference = self.difference
        if difference is None or not self.left:
            return None
        return 100 * difference / self.left

    @property
    def is_known(self) -> bool:
        """Whether at least one side says it."""
        return self.left is not None or self.right is not None


class OpStanding(StrEnum):
    """On which side an operation is."""

    BOTH = "BOTH"
    ADDED = "ADDED"
    """Only the right session has it."""
    REMOVED = "REMOVED"
    """Only the left session has it."""
    UNLISTED = "UNLISTED"
    """One side's list of operations is cut off: there it takes no more than the last that is listed."""


class Basis(StrEnum):
    """What the times of operations are of."""

    STEP = "STEP"
    """One step on one core, on average."""
    PROFILE = "PROFILE"
    """The whole profile on one core, because a session has no steps: a longer capture has more time."""


@dataclass(frozen=True)
class OpChange:
    """An operation on both sides.

    Attributes:
        name: the framework's name, by which the sides are joined.
        category: XProf's type of it; the right side's where they differ.
        standing: on which sides it is.
        time_us: self time in microseconds by the comparison's basis; 0 on a side that does not have it.
        share: of the time of all operations of its side: 0 to 1.
    """

    name: str
    category: str
    standing: OpStanding
    time_us: Change
    share: Change

    @property
    def size(self) -> float:
        """How much it changed, in microseconds, whichever way."""
        return abs(self.time_us.difference or 0.0)


@dataclass(frozen=True)
class StepChange:
    """How long steps take, in milliseconds, and how many there are."""

    average: Change
    median: Change
    ninetieth: Change
    shortest: Change
    longest: Change
    deviation: Change
    count: Change


@dataclass(frozen=True)
class UseChange:
    """How busy the devices are, in percent, and memory in bytes; words as in `server.figures.values`."""

    duty_cycle: Change
    idle: Change
    matrix_units: Change
    flops_of_roofline: Change
    memory_bandwidth: Change
    peak_memory_bytes: Change
    memory_capacity_bytes: Change


@dataclass(frozen=True)
class Comparison:
    """Two sessions side by side.

    Attributes:
        steps: how long steps take.
        use: how busy devices and memory are.
        devices: number of device cores.
        hosts: number of hosts.
        basis: what the operations' times are of.
        ops_us: self time of all operations in microseconds by that basis.
        ops: the operations, those that changed most first.
        warnings: why the sides may not be comparable, a sentence each.
    """

    steps: StepChange
    use: UseChange
    devices: Change
    hosts: Change
    basis: Basis
    ops_us: Change
    ops: tuple[OpChange, ...]
    warnings: tuple[str, ...]
