"""Writes one XPlane: names are stored once and referred to by number."""

from __future__ import annotations

from collections.abc import Hashable

from server.demo.messages import Event, EventMetadata, HasStats, Line, Plane, Space

StatValue = bool | int | float | str | bytes

_DEVICE_OFFSET = "device_offset_ps"
_DEVICE_DURATION = "device_duration_ps"


class PlaneWriter:
    """A plane under construction.

    Attributes:
        plane: the message that is written.
    """

    def __init__(self, space: Space, plane_id: int, name: str) -> None:
        self.plane: Plane = space.planes.add(id=plane_id, name=name)
        self._event_ids: dict[Hashable, int] = {}
        self._stat_ids: dict[str, int] = {}

    @property
    def event_count(self) -> int:
        """Events on all lines so far."""
        return sum(len(line.events) for line in self.plane.lines)

    def add_line(self, line_id: int, name: str) -> Line:
        """A new line whose times count from the start of the profile."""
        return self.plane.lines.add(id=line_id, display_id=line_id, name=name, timestamp_ns=0)

    def event_kind(
        self, name: str, display_name: str = "", key: Hashable | None = None
    ) -> EventMetadata:
        """The metadata of events of this name, made at first use; `key` tells namesakes apart."""
        key = name if key is None else key
        event_id = self._event_ids.setdefault(key, len(self._event_ids) + 1)
        metadata = self.plane.event_metadata[event_id]
        if not metadata.id:
            metadata.id = event_id
            metadata.name = name
            if display_name:
                metadata.display_name = display_name
        return metadata

    def add_event(self, line: Line, name: str, offset_ps: int, duration_ps: int) -> Event:
        """Appends an event of a kind that its name identifies."""
        kind = self.event_kind(name).id
        return line.events.add(metadata_id=kind, offset_ps=offset_ps, duration_ps=duration_ps)

    def add_device_event(self, line: Line, kind: int, offset_ps: int, duration_ps: int) -> Event:
        """Appends an event with its times as stats too, as TPU devices report them."""
        event = line.events.add(metadata_id=kind, offset_ps=offset_ps, duration_ps=duration_ps)
        self.add_stat(event, _DEVICE_OFFSET, offset_ps)
        self.add_stat(event, _DEVICE_DURATION, duration_ps)
        return event

    def add_stat(self, owner: HasStats, name: str, value: StatValue) -> None:
        """Appends a stat of the value's own type; integers must not be negative."""
        stat = owner.stats.add(metadata_id=self._stat_id(name))
        if isinstance(value, int):
            stat.uint64_value = int(value)
        elif isinstance(value, float):
            stat.double_value = value
        elif isinstance(value, bytes):
            stat.bytes_value = value
        else:
            stat.str_value = value

    def add_signed(self, owner: HasStats, name: str, value: int) -> None:
        """Appends a whole number as XProf's allocator events have it: of a type that could be negative."""
        stat = owner.stats.add(metadata_id=self._stat_id(name))
        stat.int64_value = value

    def add_reference(self, owner: HasStats, name: str, text: str) -> None:
        """Appends a stat whose text is stored once for the whole plane."""
        stat = owner.stats.add(metadata_id=self._stat_id(name))
        stat.ref_value = self._stat_id(text)

    def _stat_id(self, name: str) -> int:
        stat_id = self._stat_ids.get(name)
        if stat_id is None:
            stat_id = self._stat_ids[name] = len(self._stat_ids) + 1
            metadata = self.plane.stat_metadata[stat_id]
            metadata.id = stat_id
            metadata.name = name
        return stat_id
