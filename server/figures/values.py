"""What is known of a session's performance: plain values, made by `server.figures.reading`.

Everything is optional, for a profile may lack steps, devices or a memory profile. Nothing here is guessed:
each value is one that XProf's answer says, or simple arithmetic on such values.
"""

from __future__ import annotations

from dataclasses import dataclass

MOST_POINTS = 200
"""Step times that are kept of a session; of more steps, averages of neighbours."""
MOST_OPS = 300
"""Operations that are kept of a session, those with most time."""
MOST_HOSTS = 4096
MOST_NAME = 300
"""Characters of an operation's, a category's or a host's name; longer ones lose their middle."""


@dataclass(frozen=True)
class StepPart:
    """What a host does in a step, on average over its cores and steps.

    Attributes:
        name: XProf's word, such as `Device compute`.
        average_ms: its time in milliseconds.
    """

    name: str
    average_ms: float


@dataclass(frozen=True)
class HostFigures:
    """How fast one host is. A step of a host lasts as long as that of its slowest core.

    Attributes:
        name: as XProf's pod viewer has it, which is the profile's own and may differ from its file's.
        average_step_ms: mean time of a step in milliseconds.
        slowest_step_ms: time of its slowest step in milliseconds.
        parts: what the time goes to, most first; parts that take none are left out.
    """

    name: str
    average_step_ms: float
    slowest_step_ms: float
    parts: tuple[StepPart, ...] = ()


@dataclass(frozen=True)
class OpTime:
    """An operation of the framework, such as `jit(train_step)/mlp/dot_general`, over all steps and cores.

    Attributes:
        name: the framework's name of it.
        category: XProf's type of it, such as `fusion`; `Unknown` where XProf says so.
        self_time_us: time without that of operations inside it, in microseconds, all cores together.
        share: of the time of all operations: 0 to 1; time in which nothing runs does not count.
        occurrences: how often it ran.
    """

    name: str
    category: str
    self_time_us: float
    share: float
    occurrences: int


@dataclass(frozen=True)
class Steps:
    """How long steps take, in milliseconds. A step lasts as long as on its slowest core.

    Attributes:
        count: how many there are in the profile.
        average: mean.
        median: half of the steps take no longer.
        ninetieth: nine of ten take no longer.
        shortest: least.
        longest: most.
        deviation: standard deviation (of all steps, not estimated from a sample).
    """

    count: int
    average: float
    median: float
    ninetieth: float
    shortest: float
    longest: float
    deviation: float


@dataclass(frozen=True)
class Utilisation:
    """How busy the devices are, in percent, as XProf's overview says it.

    Attributes:
        duty_cycle: part of the time in which a TPU works.
        idle: part of the devices' time in which no operation runs.
        matrix_units: use of a TPU's matrix units, compared with their peak.
        flops_of_roofline: FLOPS compared with the best that the program could have.
        memory_bandwidth: use of a TPU's HBM bandwidth.
    """

    duty_cycle: float | None = None
    idle: float | None = None
    matrix_units: float | None = None
    flops_of_roofline: float | None = None
    memory_bandwidth: float | None = None


@dataclass(frozen=True)
class SessionFigures:
    """The first figures of a session.

    Attributes:
        step_times_ms: in order, at most `MOST_POINTS`; of more steps, averages of neighbours.
        average_step_ms: mean time of a step in milliseconds.
        steps: more about them, made from every single step.
        device_type: XProf's name of it, such as `TPU v5p` or `CPU`; empty when unknown.
        device_count: cores of all devices.
        host_count: hosts that XProf counted.
        utilisation: how busy the devices are.
        peak_memory_bytes: most memory in use at a time, heap and stack, on the fullest device of the first
            host.
        memory_capacity_bytes: what that device has.
        hosts: slowest first.
        top_ops: most time first, at most `MOST_OPS`.
        op_count: how many operations there are.
        ops_time_us: self time of all of them together, in microseconds.
        is_host_time: whether the operations ran on hosts, because none ran on a device.
        gaps: what could not be had, a sentence each.
    """

    step_times_ms: tuple[float, ...] = ()
    average_step_ms: float | None = None
    steps: Steps | None = None
    device_type: str = ""
    device_count: int | None = None
    host_count: int | None = None
    utilisation: Utilisation = Utilisation()
    peak_memory_bytes: int | None = None
    memory_capacity_bytes: int | None = None
    hosts: tuple[HostFigures, ...] = ()
    top_ops: tuple[OpTime, ...] = ()
    op_count: int = 0
    ops_time_us: float = 0.0
    is_host_time: bool = False
    gaps: tuple[str, ...] = ()
