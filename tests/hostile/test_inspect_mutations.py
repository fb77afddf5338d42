"""No bytes whatsoever make the inspection fail in another way than by a `LoaderError`."""

from __future__ import annotations

import random
from pathlib import Path

from loader.errors import LoaderError
from loader.inspect import Inspection, inspect_profile
from loader.inspect_limits import InspectionLimits
from tests.wire_bytes import good_profile

SEED = 20_24_02


def answer(path: Path, data: bytes) -> Inspection | LoaderError:
    """What the inspection says about these bytes; any other exception fails the test."""
    path.write_bytes(data)
    try:
        return inspect_profile(path, limits=InspectionLimits(fields=100_000))
    except LoaderError as error:
        assert error.message.endswith((".", "!")) or "The profiler reported" in error.message
        return error


def test_every_truncation(tmp_path: Path) -> None:
    good = good_profile()
    for length in range(len(good)):
        answer(tmp_path / "host.xplane.pb", good[:length])


def test_every_byte_replaced_by_extremes(tmp_path: Path) -> None:
    good = good_profile()
    for position in range(len(good)):
        for byte in (0x00, 0x7F, 0x80, 0xFF):
            mutated = good[:position] + bytes([byte]) + good[position + 1 :]
            answer(tmp_path / "host.xplane.pb", mutated)


def test_random_mutations(tmp_path: Path) -> None:
    chance = random.Random(SEED)
    good = good_profile()
    for _ in range(2000):
        data = bytearray(good)
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
