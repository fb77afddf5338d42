"""The first figures of a session as its page shows them: tiles, and its hosts from the slowest on. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from server.figures.values import HostFigures, SessionFigures
from server.ui import words
from server.ui.sparkline import Sparkline, sparkline

STRAGGLES = 0.05
"""Part by which a host's step is longer than the median's, from which on it is called a straggler."""
FIRST_HOSTS = 8
"""Hosts that are shown at once; the others are folded away."""


@dataclass(frozen=True)
class Tile:
    """One figure: what it is, its value, and a word on it."""

    label: str
    value: str
    note: str = ""


@dataclass(frozen=True)
class HostPace:
    """How fast one host is, beside the others.

    Attributes:
        name: of the host.
        average: time of a step, in words.
        difference: from the median of all hosts, in words with its sign.
        width: length of its bar in percent of the slowest host's.
        is_straggler: whether it keeps the others waiting.
        most: what it does most of the time, in words; empty when XProf doesn't say.
    """

    name: str
    average: str
    difference: str
    width: float
    is_straggler: bool
    most: str


def tiles_of(figures: SessionFigures) -> tuple[Tile, ...]:
    """The figures that are known, those that are asked for most first."""
    use = figures.utilisation
    count, kind = figures.device_count, figures.device_type
    found = [
        _step_tile(figures),
        _percent("Duty cycle", use.duty_cycle, "devices at work"),
        _percent("Matrix units", use.matrix_units, "of their peak"),
        _percent("Devices idle", None if use.duty_cycle is not None else use.idle, "of the time"),
        _percent("Memory bandwidth", use.memory_bandwidth, "of its peak"),
        _memory_tile(figures),
        Tile("Devices", words.number(count), kind) if count else None,
        Tile("Device", kind) if kind and not count else None,
    ]
    return tuple(tile for tile in found if tile is not None)


def paces_of(hosts: Sequence[HostFigures]) -> tuple[HostPace, ...]:
    """The hosts by the time of their steps, slowest first; empty for one host, which waits for nobody."""
    if len(hosts) < 2:
        return ()
    middle = median(host.average_step_ms for host in hosts)
    slowest = max(host.average_step_ms for host in hosts)
    ordered = sorted(hosts, key=lambda host: (-host.average_step_ms, host.name))
    return tuple(_pace(host, middle, slowest) for host in ordered)


def step_curve(figures: SessionFigures) -> Sparkline | None:
    """The steps' times from left to right."""
    times = figures.step_times_ms
    if not times:
        return None
    ends = f"{words.duration(min(times) / 1000)} to {words.duration(max(times) / 1000)}"
    return sparkline(times, f"Step time, {ends}", width=480, height=64)


def _pace(host: HostFigures, middle: float, slowest: float) -> HostPace:
    time = host.average_step_ms
    difference = (time - middle) / middle if middle else 0.0
    most = host.parts[0] if host.parts else None
    share = f" {most.average_ms / time:.0%}" if most and time else ""
    return HostPace(
        name=host.name,
        average=words.duration(time / 1000),
        difference=f"{difference:+.1%}".replace("-", "\N{MINUS SIGN}"),
        width=round(100 * time / slowest, 1) if slowest else 0.0,
        is_straggler=difference >= STRAGGLES,
        most=f"{most.name}{share}" if most else "",
    )


def _step_tile(figures: SessionFigures) -> Tile | None:
    if figures.average_step_ms is None:
        return None
    steps = figures.steps
    note = (
        f"{words.number(steps.count)} {'step' if steps.count == 1 else 'steps'}, median "
        f"{words.duration(steps.median / 1000)}"
        if steps
        else "on average"
    )
    return Tile("Step time", words.duration(figures.average_step_ms / 1000), note)


def _memory_tile(figures: SessionFigures) -> Tile | None:
    peak, capacity = figures.peak_memory_bytes, figures.memory_capacity_bytes
    if peak is None:
        return None
    note = f"{peak / capacity:.0%} of {words.size(capacity)}" if capacity else "of a device"
    return Tile("Peak memory", words.size(peak), note)


def _percent(label: str, value: float | None, note: str) -> Tile | None:
    return None if value is None else Tile(label, f"{value:.1f} %", note)
