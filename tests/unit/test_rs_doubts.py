"""Which memory profiles xprof-rs is not asked for: those whose events it would put in another order."""

from __future__ import annotations

from pathlib import Path

import pytest

from loader.engine.rs import UnsureError
from loader.engine.rs_doubts import doubt_memory_profile
from tests.wire_bytes import block, event_metadata, map_entry, number, plane

OTHER, ALLOCATION, RELEASE = 1, 5, 300


def event(kind: int, offset_ps: int, padding: int = 0) -> bytes:
    stat = block(4, number(1, 1) + block(5, "x" * padding))
    return block(4, number(1, kind) + number(2, offset_ps) + number(3, 10) + stat)


def host(*lines: tuple[bytes, ...], names: bytes = b"") -> bytes:
    kinds = names or (
        event_metadata(ALLOCATION, "MemoryAllocation")
        + event_metadata(RELEASE, "MemoryDeallocation")
    )
    content = b"".join(block(3, number(3, 7) + b"".join(events)) for events in lines)
    return plane("/host:CPU", content + event_metadata(OTHER, "work") + kinds)


def doubt(folder: Path, profile: bytes) -> None:
    path = folder / "h.xplane.pb"
    path.write_bytes(profile)
    doubt_memory_profile(path)


IN_ORDER = (
    event(ALLOCATION, 100, 50),
    event(RELEASE, 200, 20_000),
    event(ALLOCATION, 1 << 40, 200),
)


@pytest.mark.parametrize(
    "profile",
    [
        host(IN_ORDER),
        host(IN_ORDER, (event(RELEASE, 50), event(ALLOCATION, 150))),
        host((event(OTHER, 900), event(ALLOCATION, 100), event(OTHER, 5), event(RELEASE, 101))),
        host((event(OTHER, 9), event(OTHER, 9)), names=event_metadata(7, "other")),
        host(IN_ORDER) + plane("/device:GPU:0"),
        plane("/host:metadata"),
    ],
    ids=["one line", "two lines", "others out of order", "no memory events", "GPU", "no host"],
)
def test_memory_events_in_order_are_not_doubted(tmp_path: Path, profile: bytes) -> None:
    doubt(tmp_path, profile)


@pytest.mark.parametrize(
    ("profile", "reason"),
    [
        (host((event(ALLOCATION, 5000), event(ALLOCATION, 100))), "order"),
        (host((event(ALLOCATION, 5000), event(RELEASE, 100))), "order"),
        (host((event(RELEASE, 5000, 300), event(OTHER, 1), event(RELEASE, 4999, 300))), "order"),
        (host(IN_ORDER, (event(RELEASE, 60), event(RELEASE, 50))), "order"),
        (host((event(ALLOCATION, 5), event(RELEASE, 5))), "same moment"),
        (host((event(ALLOCATION, 5),), (event(RELEASE, 5),)), "same moment"),
        (host(IN_ORDER) + plane("/device:TPU:0"), "TPU"),
        (
            host(
                IN_ORDER,
                names=map_entry(
                    4, 5, number(1, 5) + block(2, "MemoryAllocation") + block(4, "Alloc")
                ),
            ),
            "name to be shown",
        ),
        (host(IN_ORDER)[:-3], "walked"),
    ],
)
def test_what_xprof_rs_reads_differently_is(tmp_path: Path, profile: bytes, reason: str) -> None:
    with pytest.raises(UnsureError, match=reason):
        doubt(tmp_path, profile)
