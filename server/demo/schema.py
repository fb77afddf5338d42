"""The protocol buffer messages that the demo writes and reads.

Built from a table of field numbers, so that neither protoc nor generated code is needed. The numbers are
those of XLA's `xplane.proto`, `hlo.proto` and `xla_data.proto`, cut down to the fields in use. The schema is
proto2 on purpose: a field that was set to zero is written, as XProf expects of offsets and stats.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import cast

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from server.demo.messages import CoreDetails, Hlo, MemoryAccessBreakdown, Message, Space

_FieldType = descriptor_pb2.FieldDescriptorProto
_SCALARS = {
    "bool": _FieldType.TYPE_BOOL,
    "bytes": _FieldType.TYPE_BYTES,
    "double": _FieldType.TYPE_DOUBLE,
    "int32": _FieldType.TYPE_INT32,
    "int64": _FieldType.TYPE_INT64,
    "string": _FieldType.TYPE_STRING,
    "uint32": _FieldType.TYPE_UINT32,
    "uint64": _FieldType.TYPE_UINT64,
}


@dataclass(frozen=True)
class Field:
    """One field of a message.

    Attributes:
        number: field number on the wire.
        kind: a scalar's name, or a message's name in the same package.
        repeated: whether it may occur several times.
        is_map: a map from int64 to the message `kind`.
    """

    number: int
    kind: str
    repeated: bool = False
    is_map: bool = False


def _many(number: int, kind: str) -> Field:
    return Field(number, kind, repeated=True)


_Messages = Mapping[str, Mapping[str, Field]]

_XPLANE: _Messages = {
    "XSpace": {"planes": _many(1, "XPlane"), "hostnames": _many(4, "string")},
    "XPlane": {
        "id": Field(1, "int64"),
        "name": Field(2, "string"),
        "lines": _many(3, "XLine"),
        "event_metadata": Field(4, "XEventMetadata", is_map=True),
        "stat_metadata": Field(5, "XStatMetadata", is_map=True),
        "stats": _many(6, "XStat"),
    },
    "XLine": {
        "id": Field(1, "int64"),
        "name": Field(2, "string"),
        "timestamp_ns": Field(3, "int64"),
        "events": _many(4, "XEvent"),
        "display_id": Field(10, "int64"),
    },
    "XEvent": {
        "metadata_id": Field(1, "int64"),
        "offset_ps": Field(2, "int64"),
        "duration_ps": Field(3, "int64"),
        "stats": _many(4, "XStat"),
    },
    "XStat": {
        "metadata_id": Field(1, "int64"),
        "double_value": Field(2, "double"),
        "uint64_value": Field(3, "uint64"),
        "int64_value": Field(4, "int64"),
        "str_value": Field(5, "string"),
        "bytes_value": Field(6, "bytes"),
        "ref_value": Field(7, "uint64"),
    },
    "XEventMetadata": {
        "id": Field(1, "int64"),
        "name": Field(2, "string"),
        "display_name": Field(4, "string"),
        "stats": _many(5, "XStat"),
    },
    "XStatMetadata": {"id": Field(1, "int64"), "name": Field(2, "string")},
}

_HLO: _Messages = {
    "HloProto": {"hlo_module": Field(1, "HloModuleProto")},
    "HloModuleProto": {
        "name": Field(1, "string"),
        "computations": _many(3, "HloComputationProto"),
        "entry_computation_id": Field(6, "int64"),
    },
    "HloComputationProto": {
        "name": Field(1, "string"),
        "instructions": _many(2, "HloInstructionProto"),
        "id": Field(5, "int64"),
    },
    "HloInstructionProto": {
        "name": Field(1, "string"),
        "opcode": Field(2, "string"),
        "shape": Field(3, "ShapeProto"),
        "metadata": Field(7, "OpMetadata"),
        "id": Field(35, "int64"),
        "operand_ids": _many(36, "int64"),
        "called_computation_ids": _many(38, "int64"),
    },
    "OpMetadata": {
        "op_type": Field(1, "string"),
        "op_name": Field(2, "string"),
        "source_file": Field(3, "string"),
        "source_line": Field(4, "int32"),
    },
    "ShapeProto": {
        "element_type": Field(2, "int32"),
        "dimensions": _many(3, "int64"),
        "tuple_shapes": _many(4, "ShapeProto"),
    },
    "CoreDetails": {
        "hostname": Field(1, "string"),
        "device_ordinal": Field(2, "uint32"),
        "core_num": Field(3, "uint32"),
        "local_chip_id": Field(4, "uint32"),
        "global_chip_id": Field(5, "uint32"),
        "global_core_id": Field(6, "uint32"),
    },
    "MemoryAccessed": {
        "operation_type": Field(1, "int32"),
        "memory_space": Field(2, "uint64"),
        "bytes_accessed": Field(3, "uint64"),
    },
    "MemoryAccessBreakdown": {"memory_accessed": _many(1, "MemoryAccessed")},
}


def _file_descriptor(package: str, messages: _Messages) -> descriptor_pb2.FileDescriptorProto:
    file = descriptor_pb2.FileDescriptorProto(
        name=f"{package}.proto", package=package, syntax="proto2"
    )
    for message_name, fields in messages.items():
        message = file.message_type.add(name=message_name)
        for field_name, field in fields.items():
            added = message.field.add(name=field_name, number=field.number)
            added.label = (
                _FieldType.LABEL_REPEATED
                if field.repeated or field.is_map
                else _FieldType.LABEL_OPTIONAL
            )
            if field.is_map:
                added.type = _FieldType.TYPE_MESSAGE
                added.type_name = _add_map_entry(message, package, field_name, field)
            elif field.kind in _SCALARS:
                added.type = _SCALARS[field.kind]
            else:
                added.type = _FieldType.TYPE_MESSAGE
                added.type_name = f".{package}.{field.kind}"
    return file


def _add_map_entry(
    message: descriptor_pb2.DescriptorProto, package: str, field_name: str, field: Field
) -> str:
    """Adds the nested message that stands for a map's entry; returns its full name."""
    entry_name = "".join(part.capitalize() for part in field_name.split("_")) + "Entry"
    entry = message.nested_type.add(name=entry_name)
    entry.options.map_entry = True
    entry.field.add(
        name="key", number=1, label=_FieldType.LABEL_OPTIONAL, type=_FieldType.TYPE_INT64
    )
    entry.field.add(
        name="value",
        number=2,
        label=_FieldType.LABEL_OPTIONAL,
        type=_FieldType.TYPE_MESSAGE,
        type_name=f".{package}.{field.kind}",
    )
    return f".{package}.{message.name}.{entry_name}"


def _classes(packages: Mapping[str, _Messages]) -> dict[str, type[Message]]:
    """Message classes by message name, from a descriptor pool of their own."""
    pool = descriptor_pool.DescriptorPool()
    names: list[tuple[str, Iterable[str]]] = []
    for package, messages in packages.items():
        pool.Add(_file_descriptor(package, messages))
        names.append((package, messages))
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{package}.{name}"))
        for package, messages in names
        for name in messages
    }


_CLASSES = _classes({"xprof_hub_xplane": _XPLANE, "xprof_hub_hlo": _HLO})


def new_space() -> Space:
    """An empty XSpace."""
    return cast(Space, _CLASSES["XSpace"]())


def parse_space(data: bytes) -> Space:
    """The XSpace in the bytes of a profile file."""
    space = new_space()
    space.ParseFromString(data)
    return space


def parse_hlo(data: bytes) -> Hlo:
    """The HloProto in the bytes."""
    hlo = cast(Hlo, _CLASSES["HloProto"]())
    hlo.ParseFromString(data)
    return hlo


def new_core_details() -> CoreDetails:
    """An empty CoreDetails."""
    return cast(CoreDetails, _CLASSES["CoreDetails"]())


def new_memory_access_breakdown() -> MemoryAccessBreakdown:
    """An empty MemoryAccessBreakdown."""
    return cast(MemoryAccessBreakdown, _CLASSES["MemoryAccessBreakdown"]())
