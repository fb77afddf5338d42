"""What an inspection says of a profile.

By itself, so that who only hands it on need not load what the inspection needs: front ends import no NumPy.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from loader.inspection.contents import Contents
from loader.inspection.repair import Repair


@dataclass(frozen=True)
class Inspection:
    """What a file says about itself.

    Attributes:
        size: bytes of the profile (unpacked).
        planes: number of planes.
        device_planes: number of planes of devices.
        lines: number of lines in all planes.
        events: number of events in all lines.
        longest_name: bytes of the longest name of a plane, a line or an event.
        modules: names of the HLO modules after repairs, sorted, each once.
        hostnames: hosts that the profiler recorded.
        start_ns: start of the capture since the epoch, or None when the file doesn't say or says nonsense.
        stop_ns: its end, or None likewise.
        warnings: sentences for a person: what is missing, odd or repaired though the file can be shown.
        repairs: what must be patched before the engine reads the file.
        is_plain: whether every program reads it alike. Not so when it is repaired or odd, nor in cases that
            nobody needs a warning of; a profile without devices is plain, though there is a warning.
        contents: what kinds of things it holds, for the tools that need them.
    """

    size: int
    planes: int
    device_planes: int
    lines: int
    events: int
    longest_name: int
    modules: tuple[str, ...]
    hostnames: tuple[str, ...]
    start_ns: int | None
    stop_ns: int | None
    warnings: tuple[str, ...]
    repairs: tuple[Repair, ...]
    is_plain: bool = True
    contents: Contents = field(default_factory=Contents)
