"""What a profile may hold to be converted.

Everything is counted in objects, because the engine's cost follows them and not the bytes: a file of 80 KB
can hold 40,000 planes. Used by the inspection only; the worker fills in its settings.
"""

from __future__ import annotations

from dataclasses import dataclass

from loader.inspection.wire import MAX_LENGTH


@dataclass(frozen=True)
class InspectionLimits:
    """Limits of one host's profile; beyond them the engine crashes, hangs or writes elsewhere (measured).

    Attributes:
        planes: most planes.
        device_planes: most planes of devices; XProf starts a thread for each.
        lines: most lines (threads, streams) of all planes together.
        events: most events of all lines together; XProf uses several hundred bytes for each.
        name_bytes: longest name of a plane, a line or an event; XProf's search index takes quadratic time.
        modules: most HLO modules.
        unpacked_bytes: what a gzip-compressed profile may become.
        file_bytes: longest profile; protobuf reads at most 2 GiB.
        module_name_bytes: longest name of an HLO module, which becomes a file name.
        children: most child references of op metadata in one plane.
        child_depth: deepest nesting of op metadata; XProf recurses.
        expanded_children: most ops when every child reference is followed; XProf follows all.
        fields: most fields that are looked at one by one, which bounds the time (about 3 million a second).
            Events that show nothing unusual are counted without, at 10 million a second.
        repairs: most texts that are repaired.
        repair_bytes: most bytes of all repaired texts together.
    """

    planes: int = 4096
    device_planes: int = 256
    lines: int = 1_000_000
    events: int = 20_000_000
    name_bytes: int = 16 << 10
    modules: int = 50_000
    unpacked_bytes: int = 2 << 30
    file_bytes: int = MAX_LENGTH
    module_name_bytes: int = 200
    children: int = 500_000
    child_depth: int = 1000
    expanded_children: int = 1_000_000
    fields: int = 40_000_000
    repairs: int = 10_000
    repair_bytes: int = 16 << 20


DEFAULT_LIMITS = InspectionLimits()
