"""What a person should know of a profile that can be shown: what is missing, odd or repaired.

Used by the inspection only. Every sentence says what it means for the reader.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from loader.inspection.plane import Plane, Planes

MOST_REPORTS = 10
"""Most sentences of one kind."""

_LONGEST_NAME = 200
_LATEST_NS = 1 << 62
_LONGEST_CAPTURE_NS = 30 * 24 * 3600 * 10**9


def warnings_about(planes: Planes, found: Sequence[Plane], devices: int) -> list[str]:
    """Sentences about all planes of a file, of which so many are devices'."""
    return [*_missing(found, devices), *doubts_about(planes, found)]


def doubts_about(planes: Planes, found: Sequence[Plane]) -> list[str]:
    """Those of the sentences that say why two programs might read the file differently."""
    return [*_unreadable(planes), *_repaired(planes), *_odd(planes, found)]


def capture_times(planes: Sequence[Plane]) -> tuple[int | None, int | None, list[str]]:
    """Start and stop of the capture (ns since the epoch), and a warning instead when they make no sense."""
    start = next((plane.start_ns for plane in planes if plane.start_ns is not None), None)
    stop = next((plane.stop_ns for plane in planes if plane.stop_ns is not None), None)
    is_odd = any(time is not None and time > _LATEST_NS for time in (start, stop))
    if start is not None and stop is not None:
        is_odd = is_odd or not 0 <= stop - start <= _LONGEST_CAPTURE_NS
    if not is_odd:
        return start, stop, []
    return None, None, ["The capture's recorded start and stop make no sense and are left out."]


def _missing(found: Sequence[Plane], devices: int) -> list[str]:
    if not any(plane.has_lines for plane in found):
        return ["Nothing was recorded: no plane has a timeline. Capture while steps are running."]
    if not devices:
        return [
            "There is no device plane: the capture saw the host only, so device tools are empty."
        ]
    return []


def _unreadable(planes: Planes) -> list[str]:
    if not (modules := planes.modules.unreadable):
        return []
    return [
        f"The HLO of {_number(modules, 'module')} could not be read; graph and memory tools lack it."
    ]


def _repaired(planes: Planes) -> list[str]:
    sentences = [
        f"The HLO module {before!r} is called {after!r} here: XProf can't handle all its characters."
        for before, after in list(planes.modules.renamed.items())[:MOST_REPORTS]
    ]
    if texts := planes.texts.unreadable:
        sentences.append(
            f"{_number(texts, 'text')} in the file held bytes that are not readable (UTF-8); "
            "they are shown as question marks."
        )
    if names := planes.texts.with_nul:
        sentences.append(
            f"{_number(names, 'name')} in the file held NUL bytes; they are shown as question marks."
        )
    return sentences


def _odd(planes: Planes, found: Sequence[Plane]) -> list[str]:
    sentences = []
    if lines := planes.lines.odd_lines:
        verb = "starts" if lines == 1 else "start"
        sentences.append(
            f"{_number(lines, 'line')} {verb} at an impossible time; "
            "XProf may place them wrongly or leave them out."
        )
    if events := planes.lines.odd_events:
        verb = "has" if events == 1 else "have"
        sentences.append(
            f"{_number(events, 'event')} {verb} impossible times (negative, or beyond 106 days); "
            "XProf may place them wrongly or leave them out."
        )
    names = Counter(plane.name for plane in found if plane.name)
    for name, count in names.most_common(MOST_REPORTS):
        if count > 1:
            label = name[:_LONGEST_NAME].decode(errors="replace")
            sentences.append(
                f"The plane {label!r} is there {count} times; some tools show the first only."
            )
    return sentences


def _number(count: int, noun: str) -> str:
    return f"1 {noun}" if count == 1 else f"{count:,} {noun}s"
