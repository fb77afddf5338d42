"""What is inspected a second time, and that an inspection vouches only for bytes that it has seen."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from loader.errors import LoaderError
from loader.inspection.familiar import Familiar
from loader.inspection.limits import InspectionLimits
from loader.inspection.result import Inspection
from loader.intake import remembered
from loader.intake.inspect import inspect_profile
from loader.intake.remembered import RememberedIntake
from loader.storage.base import StoredFile
from tests.wire_bytes import good_profile, line, map_entry, plane

GOOD = good_profile()
BROKEN = b"\0" + GOOD[1:]  # of the same length
NEEDS_REPAIR = plane("caf\u00e9", line()).replace(b"\xc3\xa9", b"\xe9x")


def version(number: int, name: str = "a") -> StoredFile:
    return StoredFile(f"/s/{name}.xplane.pb", f"{name}.xplane.pb", len(GOOD), str(number), 0.0)


class Place:
    """A shared file, a new target for each intake, and a count of inspections."""

    def __init__(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder = tmp_path
        self._targets = 0
        self.inspections = 0
        self.familiar: list[Familiar] = []
        self.shared = tmp_path / "shared"
        monkeypatch.setattr(remembered, "inspect_profile", self._inspect)

    def _inspect(
        self, path: Path, name: str, limits: InspectionLimits, familiar: Familiar
    ) -> Inspection:
        self.inspections += 1
        self.familiar.append(familiar)
        return inspect_profile(path, name, limits, familiar)

    def take(self, intake: RememberedIntake, file: StoredFile, data: bytes) -> bytes:
        """What lies at the target after the intake."""
        self.shared.unlink(missing_ok=True)
        self.shared.write_bytes(data)
        self._targets += 1
        target = self._folder / f"target{self._targets}"
        intake(self.shared, file, target)
        return target.read_bytes()


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    return Place(tmp_path, monkeypatch)


def test_metadata_that_another_host_has_too_is_looked_at_once(here: Place) -> None:
    intake = RememberedIntake()
    here.take(intake, version(1), GOOD)
    here.take(intake, version(1, "b"), GOOD + plane("another"))
    first, second = here.familiar
    assert first is second
    assert first.event(map_entry(4, 1, b"\x08\x01\x12\x05train")[2:]) is not None


@pytest.mark.parametrize("data", [GOOD, NEEDS_REPAIR, gzip.compress(GOOD)])
def test_a_content_is_inspected_once_and_placed_each_time(here: Place, data: bytes) -> None:
    intake = RememberedIntake()
    first = here.take(intake, version(1), data)
    assert here.take(intake, version(1), data) == first
    assert here.inspections == 1
    assert (first == data) is (data == GOOD)


@pytest.mark.parametrize("packed", [False, True])
def test_other_bytes_under_the_same_version_are_inspected(here: Place, packed: bool) -> None:
    """As after a write in place that set the times back; nothing is placed then."""
    intake = RememberedIntake()
    here.take(intake, version(1), gzip.compress(GOOD) if packed else GOOD)
    with pytest.raises(LoaderError):
        here.take(intake, version(1), gzip.compress(BROKEN) if packed else BROKEN)
    assert here.inspections == 2


def test_the_same_is_said_each_time(here: Place, tmp_path: Path) -> None:
    intake = RememberedIntake()
    here.shared.write_bytes(NEEDS_REPAIR)
    first = intake(here.shared, version(1), tmp_path / "first")
    assert intake(here.shared, version(1), tmp_path / "second") == first


def test_the_same_content_of_another_host_is_not_inspected_again(here: Place) -> None:
    intake = RememberedIntake()
    here.take(intake, version(1), GOOD)
    assert here.take(intake, version(1, "b"), GOOD) == GOOD
    assert here.inspections == 1


def test_what_was_refused_is_inspected_again_and_names_its_own_file(here: Place) -> None:
    intake = RememberedIntake()
    for name in ("a", "b"):
        with pytest.raises(LoaderError) as caught:
            here.take(intake, version(1, name), BROKEN)
        assert caught.value.file == f"{name}.xplane.pb"
    assert here.take(intake, version(1), GOOD) == GOOD


def test_limits_are_those_of_the_intake(here: Place) -> None:
    with pytest.raises(LoaderError):
        here.take(RememberedIntake(InspectionLimits(planes=0)), version(1), GOOD)


def test_what_holds_much_text_is_not_remembered(
    here: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remembered, "_MOST_BYTES", 0)
    intake = RememberedIntake()
    for _ in range(2):
        here.take(intake, version(1), NEEDS_REPAIR)
    assert here.inspections == 2


def test_the_oldest_are_forgotten(here: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remembered, "_MOST_ENTRIES", 2)
    intake = RememberedIntake()
    contents = {number: plane(f"p{number}", line()) for number in (1, 2, 3)}
    for number in (1, 2, 1, 3):
        here.take(intake, version(number), contents[number])
    assert here.inspections == 3
    here.take(intake, version(1), contents[1])
    assert here.inspections == 3
    here.take(intake, version(2), contents[2])
    assert here.inspections == 4
