"""Builds protobuf messages byte by byte, so that tests can say exactly what a profile holds.

Also damaged ones that no protobuf library would write. Field numbers of a profile are XLA's
(tsl/profiler/protobuf/xplane.proto, xla/service/hlo.proto).
"""

from __future__ import annotations


def varint(number: int) -> bytes:
    """A number as protobuf writes it; negative ones as 64-bit two's complement."""
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def number(field: int, value: int) -> bytes:
    """A varint field."""
    return varint(field << 3) + varint(value)


def block(field: int, content: bytes | str) -> bytes:
    """A string, bytes or message field."""
    data = content.encode() if isinstance(content, str) else content
    return varint(field << 3 | 2) + varint(len(data)) + data


def map_entry(field: int, key: int, value: bytes) -> bytes:
    """An entry of a map from int64 to messages."""
    return block(field, number(1, key) + block(2, value))


def event_metadata(
    key: int, name: str, *, children: tuple[int, ...] = (), stats: bytes = b""
) -> bytes:
    """An entry of XPlane.event_metadata."""
    packed = block(6, b"".join(map(varint, children))) if children else b""
    return map_entry(4, key, number(1, key) + block(2, name) + stats + packed)


def stat_metadata(key: int, name: str) -> bytes:
    """An entry of XPlane.stat_metadata."""
    return map_entry(5, key, number(1, key) + block(2, name))


def line(name: str = "ops", events: bytes = b"") -> bytes:
    """An XLine in a plane."""
    return block(3, number(1, 1) + block(2, name) + events)


def plane(name: str, content: bytes = b"") -> bytes:
    """An XPlane in an XSpace."""
    return block(1, block(2, name) + content)


def hlo_stat(module: bytes, *, stat: int = 1) -> bytes:
    """A stat of event metadata that carries an HloProto with a module of this name."""
    return hlo_proto_stat(block(1, block(1, module)), stat=stat)


def hlo_proto_stat(proto: bytes, *, stat: int = 1) -> bytes:
    """A stat of event metadata that carries these bytes as its HloProto."""
    return block(5, number(1, stat) + block(6, proto))


def metadata_plane(*entries: bytes) -> bytes:
    """The plane that carries HLO modules."""
    return plane("/host:metadata", b"".join(entries) + stat_metadata(1, "Hlo Proto"))


def good_profile() -> bytes:
    """A small profile with a device, a host thread, two modules and capture times."""
    times = stat_metadata(1, "profile_start_time") + stat_metadata(2, "profile_stop_time")
    values = block(6, number(1, 1) + number(3, 1000)) + block(6, number(1, 2) + number(3, 2500))
    return b"".join(
        (
            plane("/device:TPU:0", line("XLA Ops") + event_metadata(1, "%while", children=(2, 3))),
            plane("/host:CPU", line("python") + event_metadata(1, "train")),
            metadata_plane(
                event_metadata(1, "jit_step(7)", stats=hlo_stat(b"jit_step")),
                event_metadata(2, "jit_eval(8)", stats=hlo_stat(b"jit_eval")),
            ),
            plane("Task Environment", times + values),
            block(4, "host-0"),
        )
    )
