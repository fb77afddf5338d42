"""Which profiles are inspected a second time; a file that the inspection would refuse tells."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from loader import remembered_intake
from loader.errors import LoaderError
from loader.inspect_limits import InspectionLimits
from loader.remembered_intake import RememberedIntake
from loader.storage.base import StoredFile
from tests.wire_bytes import good_profile, line, plane

GOOD = good_profile()
BROKEN = GOOD[:-1]
NEEDS_REPAIR = plane("caf\u00e9", line()).replace(b"\xc3\xa9", b"\xe9x")


def version(number: int, name: str = "a") -> StoredFile:
    return StoredFile(f"/s/{name}.xplane.pb", f"{name}.xplane.pb", len(GOOD), str(number), 0.0)


class Place:
    """A shared file, and a new target for each intake."""

    def __init__(self, tmp_path: Path) -> None:
        self._folder = tmp_path
        self._targets = 0
        self.shared = tmp_path / "shared"

    def take(self, intake: RememberedIntake, file: StoredFile, data: bytes) -> bytes:
        """What lies at the target after the intake."""
        self.shared.unlink(missing_ok=True)
        self.shared.write_bytes(data)
        self._targets += 1
        target = self._folder / f"target{self._targets}"
        intake(self.shared, file, target)
        return target.read_bytes()


@pytest.fixture
def here(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_a_version_is_inspected_once_and_placed_each_time(here: Place) -> None:
    intake = RememberedIntake()
    assert here.take(intake, version(1), GOOD) == GOOD
    # No real store gives other content for a version: this shows that nobody looks.
    assert here.take(intake, version(1), BROKEN) == BROKEN


def test_the_same_is_said_each_time(here: Place, tmp_path: Path) -> None:
    intake = RememberedIntake()
    here.shared.write_bytes(GOOD)
    first = intake(here.shared, version(1), tmp_path / "first")
    assert intake(here.shared, version(1), tmp_path / "second") == first


@pytest.mark.parametrize("other", [version(2), version(1, "b")], ids=["generation", "host"])
def test_another_version_is_inspected(here: Place, other: StoredFile) -> None:
    intake = RememberedIntake()
    here.take(intake, version(1), GOOD)
    with pytest.raises(LoaderError):
        here.take(intake, other, BROKEN)


def test_what_was_refused_is_inspected_again(here: Place) -> None:
    intake = RememberedIntake()
    with pytest.raises(LoaderError):
        here.take(intake, version(1), BROKEN)
    assert here.take(intake, version(1), GOOD) == GOOD


def test_what_needs_repair_is_repaired_each_time(here: Place) -> None:
    intake = RememberedIntake()
    repaired = here.take(intake, version(1), NEEDS_REPAIR)
    assert repaired != NEEDS_REPAIR
    assert here.take(intake, version(1), NEEDS_REPAIR) == repaired


def test_what_is_packed_is_unpacked_each_time(here: Place) -> None:
    intake = RememberedIntake()
    packed = gzip.compress(GOOD)
    assert here.take(intake, version(1), packed) == GOOD
    assert here.take(intake, version(1), packed) == GOOD


def test_limits_are_those_of_the_intake(here: Place) -> None:
    with pytest.raises(LoaderError):
        here.take(RememberedIntake(InspectionLimits(planes=0)), version(1), GOOD)


def test_the_oldest_are_forgotten(here: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remembered_intake, "_MOST_ENTRIES", 2)
    intake = RememberedIntake()
    for number in (1, 2, 1, 3):
        here.take(intake, version(number), GOOD)
    assert here.take(intake, version(1), BROKEN) == BROKEN
    with pytest.raises(LoaderError):
        here.take(intake, version(2), BROKEN)
