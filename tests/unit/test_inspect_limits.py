"""The largest profile of each kind is accepted, one that holds an object more is refused with its count."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from loader.errors import ErrorCode, LoaderError
from loader.inspection.limits import InspectionLimits
from loader.intake.inspect import inspect_profile
from tests.inspecting import inspect, refusal
from tests.wire_bytes import (
    block,
    event_metadata,
    hlo_stat,
    line,
    metadata_plane,
    number,
    plane,
)

LIMITS = InspectionLimits()


def refused_for(
    tmp_path: Path, data: bytes, limits: InspectionLimits, words: str, setting: str
) -> None:
    error = refusal(tmp_path, data, limits)
    assert error.code is ErrorCode.TOO_LARGE
    assert words in error.message
    assert setting in error.message


def test_planes(tmp_path: Path) -> None:
    assert inspect(tmp_path, b"\x0a\x00" * 4096).planes == 4096
    words = "too many planes (40,000; limit 4,096)"
    refused_for(tmp_path, b"\x0a\x00" * 40_000, LIMITS, words, "XPROF_HUB_MOST_PLANES")


def test_device_planes(tmp_path: Path) -> None:
    planes = [plane(f"/device:GPU:{index}", line()) for index in range(257)]
    assert inspect(tmp_path, b"".join(planes[:256])).device_planes == 256
    words = "too many device planes (257; limit 256)"
    refused_for(tmp_path, b"".join(planes), LIMITS, words, "XPROF_HUB_MOST_DEVICE_PLANES")


def test_lines_of_all_planes_together(tmp_path: Path) -> None:
    limits = replace(LIMITS, lines=6)
    assert inspect(tmp_path, plane("a", line() * 3) * 2, limits).lines == 6
    words = "too many lines (more than the limit of 6)"
    data = plane("a", line() * 3) + plane("b", line() * 4)
    refused_for(tmp_path, data, limits, words, "XPROF_HUB_MOST_LINES")


def test_events_of_all_lines_together(tmp_path: Path) -> None:
    limits = replace(LIMITS, events=40_000)
    half = plane("/host:CPU", line("t", b"\x22\x00" * 20_000))
    assert inspect(tmp_path, half * 2, limits).events == 40_000
    words = "too many events (more than the limit of 40,000)"
    data = half * 2 + plane("x", line("t", b"\x22\x00"))
    refused_for(tmp_path, data, limits, words, "XPROF_HUB_MOST_EVENTS")


def named(place: str, length: int) -> bytes:
    """A profile with a long name in one place."""
    name = "N" * length
    if place == "plane":
        return plane(name, line())
    if place in ("line", "line's display name"):
        return plane("p", block(3, block(2 if place == "line" else 11, name)))
    value = block(2 if place == "event" else 4, name)
    return plane("p", line() + block(4, number(1, 1) + block(2, value)))


@pytest.mark.parametrize(
    "place", ["plane", "line", "line's display name", "event", "event's display name"]
)
def test_the_length_of_names(tmp_path: Path, place: str) -> None:
    assert inspect(tmp_path, named(place, 16_384)).longest_name == 16_384
    words = "a name in it has 16,385 bytes, and the limit is 16,384"
    refused_for(tmp_path, named(place, 16_385), LIMITS, words, "XPROF_HUB_LONGEST_NAME_BYTES")


def test_modules(tmp_path: Path) -> None:
    limits = replace(LIMITS, modules=3)
    entries = [event_metadata(i, "m", stats=hlo_stat(f"m{i}".encode())) for i in range(1, 5)]
    assert len(inspect(tmp_path, metadata_plane(*entries[:3]), limits).modules) == 3
    words = "too many HLO modules (more than the limit of 3)"
    refused_for(tmp_path, metadata_plane(*entries), limits, words, "XPROF_HUB_MOST_MODULES")


def test_the_number_of_steps(tmp_path: Path) -> None:
    many = plane("/host:CPU", event_metadata(1, "a") * 50)
    error = refusal(tmp_path, many, replace(LIMITS, fields=100))
    assert error.code is ErrorCode.TOO_LARGE
    assert "too many fields" in error.message


def test_a_file_above_the_size_limit_is_refused_by_its_size(tmp_path: Path) -> None:
    path = tmp_path / "host.xplane.pb"
    with path.open("wb") as stream:
        stream.truncate(1 << 31)  # a hole: takes no space
    with pytest.raises(LoaderError) as caught:
        inspect_profile(path)
    assert caught.value.code is ErrorCode.TOO_LARGE
    assert "2.0 GiB" in caught.value.message
