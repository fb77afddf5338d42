"""Types of the protocol buffer messages that the demo writes and reads.

Protocols only: `schema` makes the real classes at run time. They exist so that the generator is checked
by mypy like any other code.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping, Sequence
from typing import Protocol, TypeVar

Item_co = TypeVar("Item_co", covariant=True)


class Message(Protocol):
    """What every message can do."""

    def SerializeToString(self, *, deterministic: bool = False) -> bytes:  # noqa: N802
        """The message's bytes."""

    def ParseFromString(self, data: bytes) -> int:  # noqa: N802
        """Fills the message from bytes."""


class Repeated(Protocol[Item_co]):
    """A repeated field."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Item_co]: ...

    def __getitem__(self, index: int) -> Item_co: ...


class Stat(Message, Protocol):
    """XStat: one named value; exactly one of the value fields is set."""

    metadata_id: int
    double_value: float
    uint64_value: int
    int64_value: int
    str_value: str
    bytes_value: bytes
    ref_value: int


class StatList(Repeated[Stat], Protocol):
    """A repeated XStat."""

    def add(self, *, metadata_id: int) -> Stat:
        """Appends a stat."""


class HasStats(Protocol):
    """Plane, event and event metadata carry stats."""

    @property
    def stats(self) -> StatList:
        """The stats."""


class Event(Message, Protocol):
    """XEvent: times are picoseconds from the start of its line."""

    metadata_id: int
    offset_ps: int
    duration_ps: int

    @property
    def stats(self) -> StatList:
        """The event's stats."""


class EventList(Repeated[Event], Protocol):
    """A repeated XEvent."""

    def add(self, *, metadata_id: int, offset_ps: int, duration_ps: int) -> Event:
        """Appends an event."""


class Line(Message, Protocol):
    """XLine: the events of one thread or one hardware queue."""

    id: int
    name: str
    timestamp_ns: int

    @property
    def events(self) -> EventList:
        """The line's events."""


class LineList(Repeated[Line], Protocol):
    """A repeated XLine."""

    def add(self, *, id: int, display_id: int, name: str, timestamp_ns: int) -> Line:
        """Appends a line."""


class EventMetadata(Message, Protocol):
    """XEventMetadata: what all events of one kind share."""

    id: int
    name: str
    display_name: str

    @property
    def stats(self) -> StatList:
        """Stats that hold for every event of this kind."""


class StatMetadata(Message, Protocol):
    """XStatMetadata: the name of a stat."""

    id: int
    name: str


class Plane(Message, Protocol):
    """XPlane: one device, the host's threads, or a set of facts."""

    id: int
    name: str

    @property
    def lines(self) -> LineList:
        """The plane's lines."""

    @property
    def event_metadata(self) -> MutableMapping[int, EventMetadata]:
        """Event kinds by id; reading a missing id makes it."""

    @property
    def stat_metadata(self) -> MutableMapping[int, StatMetadata]:
        """Stat names by id; reading a missing id makes it."""

    @property
    def stats(self) -> StatList:
        """Facts about the whole plane."""


class PlaneList(Repeated[Plane], Protocol):
    """A repeated XPlane."""

    def add(self, *, id: int, name: str) -> Plane:
        """Appends a plane."""


class Space(Message, Protocol):
    """XSpace: everything in one profile file."""

    @property
    def planes(self) -> PlaneList:
        """The planes."""

    @property
    def hostnames(self) -> list[str]:
        """The hosts that the file is about: one."""


class Shape(Message, Protocol):
    """ShapeProto: element type and dimensions, or a tuple's parts."""

    element_type: int

    @property
    def dimensions(self) -> Sequence[int]:
        """Sizes, outermost first."""

    @property
    def tuple_shapes(self) -> Sequence[Shape]:
        """The parts of a tuple; empty for an array."""


class OpMetadata(Message, Protocol):
    """OpMetadata: where in the user's program an instruction comes from."""

    op_type: str
    op_name: str
    source_file: str
    source_line: int


class Instruction(Message, Protocol):
    """HloInstructionProto."""

    name: str
    opcode: str
    shape: Shape
    metadata: OpMetadata
    id: int

    @property
    def operand_ids(self) -> Sequence[int]:
        """Ids of the inputs, in the same computation."""

    @property
    def called_computation_ids(self) -> Sequence[int]:
        """Ids of computations that it runs."""


class Computation(Message, Protocol):
    """HloComputationProto."""

    name: str
    id: int

    @property
    def instructions(self) -> Sequence[Instruction]:
        """Instructions in execution order."""


class HloModule(Message, Protocol):
    """HloModuleProto."""

    name: str
    entry_computation_id: int

    @property
    def computations(self) -> Sequence[Computation]:
        """All computations of the module."""


class Hlo(Message, Protocol):
    """HloProto: a module and its buffers."""

    hlo_module: HloModule


class CoreDetails(Message, Protocol):
    """CoreDetails: where a TPU core sits."""

    hostname: str
    device_ordinal: int
    core_num: int
    local_chip_id: int
    global_chip_id: int
    global_core_id: int


class MemoryAccess(Message, Protocol):
    """MemoryAccessed: bytes of one kind of access (operation 1 reads, 2 writes) to one memory (1: HBM)."""

    operation_type: int
    memory_space: int
    bytes_accessed: int


class MemoryAccessList(Repeated[MemoryAccess], Protocol):
    """A repeated MemoryAccessed."""

    def add(self, *, operation_type: int, memory_space: int, bytes_accessed: int) -> MemoryAccess:
        """Appends an access."""


class MemoryAccessBreakdown(Message, Protocol):
    """MemoryAccessBreakdown."""

    @property
    def memory_accessed(self) -> MemoryAccessList:
        """The accesses."""
