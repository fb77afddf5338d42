"""Counting without decoding finds what decoding every event finds."""

from __future__ import annotations

import random
import subprocess
import sys
import tracemalloc
from dataclasses import dataclass
from pathlib import Path

import pytest

from loader.intake.inspect import inspect_profile
from tests.inspecting import inspect
from tests.wire_bytes import block, line, number, plane

SEED = 20_24_03


@dataclass
class Written:
    """Events, and what is wrong with them.

    Attributes:
        data: the events as fields of a line.
        events: how many.
        odd: how many have an impossible time.
        unreadable: texts among their stats that are no UTF-8.
    """

    data: bytes = b""
    events: int = 0
    odd: int = 0
    unreadable: int = 0


def write_events(chance: random.Random, number_of_events: int) -> Written:
    """Events with stats of all kinds, as protobuf libraries write them; about one in 50 is odd."""
    written = Written(events=number_of_events)
    parts = []
    for _ in range(number_of_events):
        offset, duration = chance.getrandbits(chance.randint(1, 55)), chance.getrandbits(40)
        if chance.random() < 0.02:
            offset, duration = chance.choice([(-1, 1), (1, -1), (1 << 62, 1 << 62)])
            written.odd += 1
        stats = b"".join(write_stat(chance, written) for _ in range(chance.randint(0, 5)))
        head = number(1, chance.randint(1, 300)) + number(2, offset) + number(3, duration)
        parts.append(block(4, head + stats))
    written.data = b"".join(parts)
    return written


def write_stat(chance: random.Random, written: Written) -> bytes:
    """One stat; its id is often one that looks like a tag."""
    key = number(1, chance.choice([1, 8, 17, 34, 42, 300, 5418]))
    kind = chance.choice(["double", "uint64", "int64", "ref", "text", "text", "bytes"])
    if kind == "double":
        return block(4, key + b"\x11" + chance.randbytes(8))
    if kind in ("uint64", "int64", "ref"):
        value = chance.getrandbits(chance.choice([6, 20, 64]))
        return block(4, key + number({"uint64": 3, "int64": 4, "ref": 7}[kind], value))
    if kind == "bytes":
        return block(4, key + block(6, chance.randbytes(chance.randint(0, 40))))
    text = chance.choice([b"", b"ascii", "größe".encode() * chance.randint(1, 60), b"x" * 300])
    if chance.random() < 0.02:
        text += b"\xff"
        written.unreadable += 1
    return block(4, key + block(5, text))


@pytest.mark.parametrize("round_", range(6))
def test_all_odd_events_and_unreadable_texts_are_found(tmp_path: Path, round_: int) -> None:
    chance = random.Random(SEED + round_)
    counts = [chance.randint(0, 60) for _ in range(150)] + [12_000]
    chance.shuffle(counts)
    lines = [write_events(chance, count) for count in counts]
    profile = plane("/device:TPU:0", b"".join(line("ops", written.data) for written in lines))
    assert len(profile) > 1 << 20  # several pieces, cut at arbitrary places
    inspection = inspect(tmp_path, profile)
    assert inspection.lines == len(lines)
    assert inspection.events == sum(written.events for written in lines)
    assert len(inspection.repairs) == sum(written.unreadable for written in lines) > 10
    odd = sum(written.odd for written in lines)
    assert inspection.warnings[0].startswith(f"{sum(w.unreadable for w in lines)} texts")
    assert inspection.warnings[1].startswith(f"{odd} events have impossible times")


def test_events_are_counted_between_other_fields_of_a_line(tmp_path: Path) -> None:
    event = block(4, number(1, 1))
    content = event * 3 + number(10, 5) + event * 2 + block(11, "name") + event
    long_event = block(4, number(1, 1) + block(4, block(6, b"b" * 70_000)))
    profile = plane("/device:TPU:0", line("x", content + long_event + event))
    assert inspect(tmp_path, profile).events == 8


def write_megabytes(path: Path, megabytes: int) -> int:
    """A profile of this size; gives its number of events."""
    event = block(4, number(1, 1) + number(2, 1 << 40) + number(3, 1 << 20))
    count = (megabytes << 20) // len(event)
    path.write_bytes(plane("/device:TPU:0", line("x", event * count)))
    return count


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "host.xplane.pb"
    peaks = []
    for megabytes in (4, 32):
        events = write_megabytes(path, megabytes)
        tracemalloc.start()
        try:
            found = inspect_profile(path)
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
        assert found.events == events
    assert peaks[1] < peaks[0] * 1.1
    assert peaks[1] < 8 << 20


def test_pages_of_the_file_are_given_back(tmp_path: Path) -> None:
    """What was read of a mapped file counts as the process's memory until it is given back."""
    for megabytes in (4, 64):
        write_megabytes(tmp_path / f"{megabytes}.xplane.pb", megabytes)
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from loader.intake.inspect import inspect_profile\n"
        "for path in sys.argv[1:]:\n"
        "    inspect_profile(Path(path))\n"
        "    status = Path('/proc/self/status').read_text()\n"
        "    print(status.split('VmHWM:')[1].split()[0])\n"
    )
    files = [str(tmp_path / "4.xplane.pb"), str(tmp_path / "64.xplane.pb")]
    done = subprocess.run(
        [sys.executable, "-c", code, *files], capture_output=True, text=True, check=True
    )
    after_small, after_large = (int(line) for line in done.stdout.split())
    assert after_large - after_small < 16 << 10  # KiB
