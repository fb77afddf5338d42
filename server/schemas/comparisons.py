"""Comparisons as JSON. Times of steps are milliseconds, those of operations microseconds, memory is bytes."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints

from server.schemas.base import ApiModel

SessionText = Annotated[str, StringConstraints(max_length=1000)]


class ComparisonState(StrEnum):
    """How far a comparison, or one side of it, is."""

    PENDING = "PENDING"
    """Figures are being made; ask again."""
    READY = "READY"
    FAILED = "FAILED"
    """There will be no figures of these files; `problem` of the side says why."""


class ComparisonParameters(ApiModel):
    """What is compared."""

    left: SessionText
    """Resource name of a session, or `RUN/SESSION`."""
    right: SessionText
    """Of the one that is compared with it."""
    op_limit: Annotated[int, Field(ge=0, le=600)] = 50
    """At most so many operations, those that changed most."""


class NumberChange(ApiModel):
    """A number on both sides; one that a session does not say is missing."""

    left: float | None = None
    right: float | None = None
    difference: float | None = None
    """Right minus left."""
    percent: float | None = None
    """The same in percent of the left one; missing when that is 0."""


class ComparedSession(ApiModel):
    """One side."""

    name: str
    """Resource name, not percent-encoded."""
    uid: str
    display_name: str = ""
    run_display_name: str = ""
    dashboard_uri: str = ""
    """Opens it in XProf, for people who are signed in."""
    state: ComparisonState
    problem: str | None = None
    """Why there are no figures, or not yet."""
    device_type: str | None = None
    device_count: int | None = None
    """Device cores."""
    host_count: int | None = None
    """Hosts that XProf counted."""
    step_times_ms: list[float] = Field(default_factory=list)
    """At most 200; of more steps, averages of neighbours."""
    gaps: list[str] = Field(default_factory=list)
    """What XProf could not say of it, a sentence each."""


class StepTimeChange(ApiModel):
    """How long steps take, in milliseconds. A step lasts as long as on its slowest core."""

    average_ms: NumberChange
    median_ms: NumberChange
    p90_ms: NumberChange
    """Nine of ten steps take no longer."""
    shortest_ms: NumberChange
    longest_ms: NumberChange
    deviation_ms: NumberChange
    """Standard deviation."""
    count: NumberChange
    """Steps in the profile."""


class UtilisationChange(ApiModel):
    """How busy devices are, in percent, as XProf says it."""

    duty_cycle_percent: NumberChange
    idle_percent: NumberChange
    """Part of the devices' time in which no operation runs."""
    matrix_units_percent: NumberChange
    flops_of_roofline_percent: NumberChange
    memory_bandwidth_percent: NumberChange


class MemoryChange(ApiModel):
    """Memory of the fullest device of the first host, in bytes."""

    peak_bytes: NumberChange
    capacity_bytes: NumberChange


class OpTimeChange(ApiModel):
    """An operation of the framework on both sides, joined by its name."""

    name: str
    category: str
    standing: str
    """`BOTH`; `ADDED`: only the right session has it; `REMOVED`: only the left one; `UNLISTED`: it is not
    among the listed operations of one side, where it takes no more than the last of them."""
    time_us: NumberChange
    """Self time in microseconds, of what `opBasis` says."""
    left_share: float
    """Of the self time of all operations of the left session, 0 to 1."""
    right_share: float


class ConfigChange(ApiModel):
    """A setting that differs."""

    name: str
    """Where it stands in the run's `configs`, such as `userConfigs.batchSize`."""
    left: str | None = None
    right: str | None = None


class Comparison(ApiModel):
    """Two sessions side by side; all but both sides and the configs is missing until it is `READY`."""

    state: ComparisonState
    left: ComparedSession
    right: ComparedSession
    warnings: list[str] = Field(default_factory=list)
    """Why the two may not be comparable, a sentence each."""
    step_time: StepTimeChange | None = None
    utilisation: UtilisationChange | None = None
    memory: MemoryChange | None = None
    op_basis: str | None = None
    """What times of operations are of: `STEP`: one step on one core; `PROFILE`: the whole profile on one
    core, because a session has no steps."""
    ops_time_us: NumberChange | None = None
    """Self time of all operations."""
    ops: list[OpTimeChange] = Field(default_factory=list)
    """Those that changed most first."""
    op_count: int | None = None
    """How many were compared."""
    configs: list[ConfigChange] = Field(default_factory=list)
    """Settings of the runs that differ."""
    same_config_count: int = 0
    """How many settings are the same."""
