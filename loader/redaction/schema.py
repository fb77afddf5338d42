"""The fields of a profile that a redacted one may have, and no others.

Messages are built from these tables, so that whatever is not in them is not even read: it is dropped when a
message is written again. Field numbers are those of XLA's `xplane.proto`, `hlo.proto` and `xla_data.proto`.
Numbers and flags need no name; texts have one, because each of them is replaced. The schema is proto2 on
purpose: a field that was set to zero is written, as XProf expects of offsets and stats.
"""

from __future__ import annotations

from collections.abc import Mapping

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import Message

_Field = descriptor_pb2.FieldDescriptorProto
_PACKAGE = "xprof_hub_redaction"
_SCALARS: Mapping[str, int] = {
    "bool": _Field.TYPE_BOOL,
    "double": _Field.TYPE_DOUBLE,
    "float": _Field.TYPE_FLOAT,
    "int32": _Field.TYPE_INT32,
    "int64": _Field.TYPE_INT64,
    "uint64": _Field.TYPE_UINT64,
    # Of any bytes: what is no UTF-8 is replaced like all else.
    "text": _Field.TYPE_BYTES,
    "bytes": _Field.TYPE_BYTES,
}

_XPLANE = """
Stat: 1 id int64 | 2 double ^value | 3 uint64 ^value | 4 int64 ^value | 5 text text ^value
  | 6 data bytes ^value | 7 uint64 ^value
PlainStat: 1 int64 | 2 double ^value | 3 uint64 ^value | 4 int64 ^value | 7 uint64 ^value
Event: 1 int64 | 2 int64 ^data | 5 int64 ^data | 3 int64 | 4 stats Stat*
PlainEvent: 1 int64 | 2 int64 ^data | 5 int64 ^data | 3 int64 | 4 PlainStat*
Events: 4 events Event*
PlainEvents: 4 PlainEvent*
LineHead: 1 int64 | 2 name text | 3 int64 | 9 int64 | 10 int64 | 11 display_name text
EventMetadata: 1 int64 | 2 name text | 4 display_name text | 5 stats Stat* | 6 int64*
EventMetadataEntry: 1 int64 | 2 value EventMetadata
StatMetadata: 1 int64 | 2 name text
StatMetadataEntry: 1 key int64 | 2 value StatMetadata
CoreDetails: 1 hostname text | 2 int64 | 3 int64 | 4 int64 | 5 int64 | 6 int64
MemoryAccessed: 1 int64 | 2 uint64 | 3 uint64
MemoryAccessBreakdown: 1 MemoryAccessed*
"""
_SHAPES = """
Tile: 1 int64*
SplitConfig: 1 int64 | 2 int64*
Layout: 1 int64* | 9 int32* | 13 bool* | 14 bool* | 6 Tile* | 16 int64 | 7 int64 | 8 int64 | 11 int32
  | 12 int32 | 10 Shape | 15 int64 | 17 SplitConfig*
Shape: 2 int32 | 3 int64* | 6 bool* | 4 Shape* | 5 Layout
ProgramShape: 1 Shape* | 2 Shape | 3 parameter_names text*
PaddingDimension: 1 int64 | 2 int64 | 3 int64
Padding: 1 PaddingDimension*
WindowDimension: 1 int64 | 2 int64 | 3 int64 | 4 int64 | 5 int64 | 6 int64 | 7 bool
Window: 1 WindowDimension*
GatherDimensions: 1 int64* | 2 int64* | 3 int64* | 4 int64 | 5 int64* | 6 int64*
ConvolutionDimensions: 7 int64 | 8 int64 | 11 int64* | 3 int64 | 4 int64 | 6 int64* | 9 int64 | 10 int64
  | 12 int64*
DotDimensions: 1 int64* | 2 int64* | 3 int64* | 4 int64*
RaggedDotDimensions: 1 DotDimensions | 2 int64* | 3 int64*
TensorSparsity: 1 int64 | 2 int64 | 3 int64 | 4 int64 | 5 int32
Sparsity: 1 TensorSparsity | 2 TensorSparsity
"""
_INSTRUCTIONS = """
OpMetadata: 1 op_type text | 2 op_name text | 8 int64 | 9 int64 | 12 deduplicated_name text
  | 16 scheduling_name text
Slice: 1 int64 | 2 int64 | 3 int64
ReplicaGroup: 1 int64*
ReplicaGroups: 1 ReplicaGroup*
MeshAxis: 1 name text | 2 int64
IotaTransform: 1 int64* | 2 int64*
Mesh: 1 axes MeshAxis* | 2 int64* | 3 IotaTransform
SubAxis: 1 int64 | 2 int64
AxisRef: 1 int64 | 2 SubAxis
MeshReplicaGroups: 1 mesh Mesh | 2 AxisRef*
IotaReplicaGroups: 1 int64 | 2 int64 | 3 int64* | 4 int32*
SourceTarget: 1 int64 | 2 int64
Precision: 1 int32* | 2 int32
TriangularSolve: 1 bool | 2 bool | 3 bool | 4 int32
Cholesky: 1 bool
Replication: 1 bool*
Aliasing: 1 int64* | 2 int64 | 3 int64*
Instruction: 1 name text | 2 opcode text | 3 Shape | 7 metadata OpMetadata | 9 int64 | 11 fusion_kind text
  | 13 int64 | 14 int64* | 15 Window | 16 ConvolutionDimensions | 50 int64 | 58 int64 | 17 Slice* | 18 int32
  | 19 int32 | 20 int64* | 21 Padding | 23 int32 | 24 float | 25 int64 | 26 int64
  | 28 custom_call_target text | 29 Shape | 30 DotDimensions | 90 RaggedDotDimensions | 31 int32 | 32 int64*
  | 63 comparison_direction text | 33 GatherDimensions | 34 int64* | 35 int64 | 36 int64* | 37 int64*
  | 38 int64* | 49 ReplicaGroup* | 45 int64 | 71 bool | 47 bool | 60 bool | 48 GatherDimensions | 51 Precision
  | 52 SourceTarget* | 56 bool | 57 Shape* | 59 TriangularSolve | 62 Cholesky | 61 Replication | 65 bool
  | 74 Aliasing* | 76 int32 | 66 int64 | 67 bool | 69 bool | 70 int32 | 72 comparison_type text | 73 bool
  | 80 int32 | 75 int32 | 77 int32 | 79 async_execution_thread text | 81 int64 | 85 bool | 87 ReplicaGroups
  | 92 IotaReplicaGroups | 93 axes MeshReplicaGroups | 89 bool | 94 bool | 95 int64 | 96 int32 | 97 int32
  | 98 Sparsity | 100 bool | 102 comparison_order text
Computation: 1 name text | 2 instructions Instruction* | 4 program_shape ProgramShape | 5 int64 | 6 int64
  | 7 bool | 8 execution_thread text
"""
_MODULES = """
InstructionSequence: 1 int64*
SequencesEntry: 1 int64 | 2 InstructionSequence
Schedule: 1 SequencesEntry*
AliasEntry: 1 int64* | 2 int64 | 3 int64* | 4 int32
Aliases: 1 AliasEntry*
DonorEntry: 1 int64 | 2 int64*
Donors: 1 DonorEntry*
Prefetch: 1 int64 | 2 int64* | 3 int64
ComputationDevice: 1 int64*
DeviceAssignment: 1 int32 | 2 int32 | 3 ComputationDevice*
Module: 1 name text | 2 entry_computation_name text | 6 int64 | 3 computations Computation*
  | 4 host_program_shape ProgramShape | 5 int64 | 7 Schedule | 8 Aliases | 18 Donors | 10 Prefetch* | 11 bool
  | 16 bool | 15 DeviceAssignment
Location: 2 instruction_name text | 4 int64 | 3 int64*
LogicalBuffer: 1 int64 | 2 int64 | 3 defined_at Location | 4 int64
BufferAlias: 1 int64 | 2 location Location
Assigned: 1 int64 | 2 int64 | 3 int64 | 4 int32
Allocation: 1 int64 | 2 int64 | 3 bool | 11 bool | 5 bool | 12 bool | 6 int64 | 10 int64* | 13 bool | 7 bool
  | 8 int64 | 9 Assigned*
HeapEvent: 1 int32 | 2 int64 | 3 computation_name text | 4 instruction_name text | 5 int64
HeapTrace: 1 events HeapEvent* | 2 bool | 3 int64
PeakBuffers: 1 int64 | 2 int64*
BufferAssignment: 1 logical_buffers LogicalBuffer* | 2 buffer_aliases BufferAlias* | 3 Allocation*
  | 4 heap_simulator_traces HeapTrace* | 5 PeakBuffers*
Hlo: 1 hlo_module Module | 3 buffer_assignment BufferAssignment
"""


def _messages(tables: str) -> dict[str, list[str]]:
    """Each message's fields as they stand in the tables."""
    lines = tables.replace("\n  ", " ").strip().splitlines()
    named = (line.partition(": ") for line in lines if line)
    return {name: [field.strip() for field in fields.split("|")] for name, _, fields in named}


def _add_field(message: descriptor_pb2.DescriptorProto, spec: str) -> None:
    """One field: its number, a name if it has one, its kind, `*` if repeated, `^choice` if one of several."""
    number, *rest = spec.split()
    choice = rest.pop()[1:] if rest[-1].startswith("^") else ""
    kind = rest[-1].removesuffix("*")
    field = message.field.add(
        name=rest[0] if len(rest) > 1 else f"field_{number}", number=int(number)
    )
    is_repeated = rest[-1].endswith("*")
    field.label = _Field.LABEL_REPEATED if is_repeated else _Field.LABEL_OPTIONAL
    if kind in _SCALARS:
        field.type = _SCALARS[kind]
        if is_repeated and field.type != _Field.TYPE_BYTES:
            field.options.packed = True
    else:
        field.type = _Field.TYPE_MESSAGE
        field.type_name = f".{_PACKAGE}.{kind}"
    if choice:
        choices = [known.name for known in message.oneof_decl]
        if choice not in choices:
            message.oneof_decl.add(name=choice)
            choices.append(choice)
        field.oneof_index = choices.index(choice)


def _build(tables: Mapping[str, list[str]]) -> dict[str, type[Message]]:
    """Message classes by name, from a descriptor pool of their own."""
    file = descriptor_pb2.FileDescriptorProto(
        name="redaction.proto", package=_PACKAGE, syntax="proto2"
    )
    for name, fields in tables.items():
        message = file.message_type.add(name=name)
        for spec in fields:
            _add_field(message, spec)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}"))
        for name in tables
    }


_CLASSES = _build(_messages("\n".join((_XPLANE, _SHAPES, _INSTRUCTIONS, _MODULES))))


def parse(name: str, data: bytes) -> Message:
    """The message of this name in the bytes; what the tables don't have is left in it until it is written.

    Raises:
        google.protobuf.message.DecodeError: they hold none.
    """
    return _CLASSES[name].FromString(data)


def written(message: Message) -> bytes:
    """The bytes of a message, without anything that the tables don't have."""
    message.DiscardUnknownFields()
    return bytes(message.SerializeToString())
