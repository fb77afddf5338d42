"""No bytes whatsoever make the inspection fail in another way than by a `LoaderError`."""

from __future__ import annotations

import random
from pathlib import Path

from loader.errors import LoaderError
from loader.inspection.limits import InspectionLimits
from loader.inspection.repair import apply_repairs
from loader.inspection.result import Inspection
from loader.intake.inspect import inspect_profile
from tests.text_places import event, stat
from tests.wire_bytes import block, event_metadata, good_profile, line, number, plane, stat_metadata

SEED = 20_24_02
EVENTS = b"".join(
    event(stat(number(4, index)), stat(block(5, "größe")), stat(b"\x11" + b"\xf0" * 8))
    for index in range(5)
)
PROFILE = good_profile() + plane(
    "/device:TPU:1", line("XLA Ops", EVENTS) + event_metadata(1, "op") + stat_metadata(3, "größe")
)


def answer(path: Path, data: bytes) -> Inspection | LoaderError:
    """What the inspection says about these bytes; any other exception fails the test.

    What it says must be repaired is repaired, and then nothing is left to repair.
    """
    path.write_bytes(data)
    limits = InspectionLimits(fields=100_000)
    try:
        found = inspect_profile(path, limits=limits)
        apply_repairs(path, found.repairs)
        assert path.stat().st_size == len(data)
        assert inspect_profile(path, limits=limits).repairs == ()
        return found
    except LoaderError as error:
        assert error.message.endswith((".", "!")) or "The profiler reported" in error.message
        return error


def test_every_truncation(tmp_path: Path) -> None:
    for length in range(len(PROFILE)):
        answer(tmp_path / "host.xplane.pb", PROFILE[:length])


def test_every_byte_replaced_by_extremes(tmp_path: Path) -> None:
    for position in range(len(PROFILE)):
        for byte in (0x00, 0x7F, 0x80, 0xFF):
            mutated = PROFILE[:position] + bytes([byte]) + PROFILE[position + 1 :]
            answer(tmp_path / "host.xplane.pb", mutated)


def test_random_mutations(tmp_path: Path) -> None:
    chance = random.Random(SEED)
    for _ in range(2000):
        data = bytearray(PROFILE)
        for _ in range(chance.randint(1, 8)):
            start = chance.randrange(len(data))
            piece = chance.randbytes(chance.randint(0, 6))
            data[start : start + chance.randint(0, 6)] = piece
        answer(tmp_path / "host.xplane.pb", bytes(data))


def test_random_bytes(tmp_path: Path) -> None:
    chance = random.Random(SEED)
    for _ in range(1000):
        answer(tmp_path / "host.xplane.pb", chance.randbytes(chance.randint(1, 400)))


def test_random_bytes_inside_a_plane(tmp_path: Path) -> None:
    chance = random.Random(SEED)
    for _ in range(1000):
        inside = chance.randbytes(chance.randint(1, 100))
        answer(tmp_path / "host.xplane.pb", bytes([0x0A, len(inside)]) + inside)
