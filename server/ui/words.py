"""Moments, sizes and durations as people read them on the site's pages, and as programs do.

Pure functions: nothing here knows a request, a person or their time zone (static/site/moments.js does).
"""

from __future__ import annotations

from datetime import UTC, datetime

_UNITS = ("B", "KB", "MB", "GB", "TB", "PB")
_THOUSAND = 1000


def moment(value: datetime) -> str:
    """A moment for people, where nothing is known of their time zone."""
    return f"{value.astimezone(UTC):%-d %b %Y, %H:%M} UTC"


def machine_moment(value: datetime) -> str:
    """The same for programs."""
    return value.astimezone(UTC).isoformat(timespec="seconds")


def size(count: int | float) -> str:
    """Bytes in the unit that keeps the number small, three digits at most: `823 B`, `1.4 GB`."""
    rest = float(count)
    for unit in _UNITS:
        digits = 1 if unit != "B" and rest < 99.95 else 0
        if round(rest, digits) < _THOUSAND or unit == _UNITS[-1]:
            return f"{rest:.{digits}f} {unit}"
        rest /= _THOUSAND
    raise AssertionError("the last unit takes everything")


def duration(seconds: float) -> str:
    """A time span in one or two units: `850 ms`, `12.5 s`, `3 min 20 s`, `2 h 5 min`, `4 d 3 h`."""
    if seconds < 1:
        return f"{seconds * 1000:.3g} ms"
    if seconds < 59.95:
        return f"{seconds:.3g} s"
    whole = round(seconds)
    for size_of, name, part, part_name in (
        (86_400, "d", 3600, "h"),
        (3600, "h", 60, "min"),
        (60, "min", 1, "s"),
    ):
        if whole >= size_of:
            rest = whole % size_of // part
            return f"{whole // size_of} {name}" + (f" {rest} {part_name}" if rest else "")
    return f"{whole} s"


def number(value: int | float) -> str:
    """A count with thin spaces between thousands, as tables show it."""
    return f"{value:,}".replace(",", "\u202f")
