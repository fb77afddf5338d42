"""What lies where the engine reads, after a profile was taken in."""

from __future__ import annotations

import gzip
import hashlib
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from loader.errors import CACHEABLE, ErrorCode, LoaderError
from loader.inspection.limits import InspectionLimits
from loader.inspection.result import Inspection
from loader.intake.door import UPLOAD_SECONDS, take_in
from loader.storage.base import StoredFile
from loader.storage.local import LocalStorage
from tests.wire_bytes import good_profile, line, plane

NAME = "host-3.xplane.pb"
LONG_AGO = 1_700_000_000.0
GOOD = good_profile()
UNREADABLE = plane("caf\u00e9", line()).replace(b"\xc3\xa9", b"\xe9x")


class Session:
    """A shared file, and a private directory for its conversion."""

    def __init__(self, tmp_path: Path) -> None:
        self.shared = tmp_path / "0a1b2c"
        self.target = tmp_path / "job" / NAME
        self.target.parent.mkdir(mode=0o700)

    def take_in(
        self, data: bytes, modified: float | None = LONG_AGO, limits: InspectionLimits | None = None
    ) -> Inspection:
        self.shared.write_bytes(data)
        file = StoredFile(f"/sessions/{NAME}", NAME, len(data), "1", modified)
        return take_in(self.shared, file, self.target, limits or InspectionLimits())

    def refusal(
        self, data: bytes, modified: float | None = LONG_AGO, limits: InspectionLimits | None = None
    ) -> LoaderError:
        with pytest.raises(LoaderError) as caught:
            self.take_in(data, modified, limits)
        assert caught.value.file == NAME
        assert not list(self.target.parent.iterdir())
        assert self.shared.read_bytes() == data
        return caught.value


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return Session(tmp_path)


def test_a_good_profile_is_placed_as_it_is(session: Session) -> None:
    assert session.take_in(GOOD).planes == 4
    assert session.target.read_bytes() == GOOD


def test_a_repaired_profile_is_a_private_copy(session: Session) -> None:
    found = session.take_in(UNREADABLE)
    assert session.target.read_bytes() == UNREADABLE.replace(b"\xe9", b"?")
    assert session.shared.read_bytes() == UNREADABLE
    assert session.target.stat().st_ino != session.shared.stat().st_ino
    assert session.target.stat().st_mode & 0o777 == 0o444
    assert any("UTF-8" in sentence for sentence in found.warnings)


def test_a_compressed_profile_is_unpacked_and_repaired(session: Session) -> None:
    found = session.take_in(gzip.compress(UNREADABLE) + b"garbage")
    assert session.target.read_bytes() == UNREADABLE.replace(b"\xe9", b"?")
    assert session.target.stat().st_mode & 0o777 == 0o444
    assert found.size == len(UNREADABLE)
    assert found.warnings[-1] == "Bytes behind the end of the gzip data were ignored."


def test_a_bomb_is_too_large_and_leaves_nothing(session: Session) -> None:
    limits = replace(InspectionLimits(), unpacked_bytes=1 << 20)
    error = session.refusal(gzip.compress(bytes(16 << 20)), limits=limits)
    assert error.code is ErrorCode.TOO_LARGE
    assert "more than 1,048,576 bytes" in error.message


def test_the_ordinary_limits_hold_for_what_was_unpacked(session: Session) -> None:
    error = session.refusal(gzip.compress(b"\x0a\x00" * 40_000))
    assert "too many planes (40,000; limit 4,096)" in error.message


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (gzip.compress(gzip.compress(GOOD)), "compressed twice"),
        (gzip.compress(b"plain text, packed"), "not a protobuf but text"),
        (gzip.compress(b""), "it is empty"),
        (gzip.compress(GOOD)[:-9], "its gzip data ends too early"),
        (b"", "it is empty"),
        (GOOD[:-3], "it ends too early"),
    ],
)
def test_refusals_of_old_files_are_final(session: Session, data: bytes, words: str) -> None:
    for modified in (LONG_AGO, time.time() - UPLOAD_SECONDS - 1, time.time() + 3600, None):
        error = session.refusal(data, modified)
        assert error.code is ErrorCode.MALFORMED
        assert words in error.message


@pytest.mark.parametrize("data", [b"", GOOD[:-3], gzip.compress(GOOD)[:-9]])
def test_a_young_file_that_ends_too_early_is_incomplete(session: Session, data: bytes) -> None:
    for modified in (time.time(), time.time() - UPLOAD_SECONDS + 10, time.time() + 60):
        error = session.refusal(data, modified)
        assert error.code is ErrorCode.INCOMPLETE
        assert "an upload may be under way" in error.message
    assert ErrorCode.INCOMPLETE not in CACHEABLE


def test_a_young_file_that_is_no_profile_is_refused_at_once(session: Session) -> None:
    assert session.refusal(b"not a profile at all", time.time()).code is ErrorCode.MALFORMED


def test_a_growing_file_is_incomplete_until_it_is_whole(tmp_path: Path, session: Session) -> None:
    folder = tmp_path / "session"
    folder.mkdir()
    storage = LocalStorage()

    def answer() -> Inspection:
        (file,) = storage.list_files(str(folder))
        copy = tmp_path / hashlib.sha256(file.generation.encode()).hexdigest()
        storage.download(file, copy)
        return take_in(copy, file, session.target)

    with (folder / NAME).open("wb", buffering=0) as upload:
        for start in range(0, len(GOOD) - 20, 20):
            upload.write(GOOD[start : start + 20])
            with pytest.raises(LoaderError) as caught:
                answer()
            assert caught.value.code is ErrorCode.INCOMPLETE
        upload.write(GOOD[start + 20 :])
    assert answer().planes == 4
    assert session.target.read_bytes() == GOOD


def test_a_full_disk_is_said_and_leaves_nothing(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device", str(session.target))

    monkeypatch.setattr("loader.intake.door.apply_repairs", fail)
    error = session.refusal(UNREADABLE)
    assert (error.code, error.retry_after) == (ErrorCode.WORKER_FULL, 30)
    assert "disk is full" in error.message
    assert str(session.target) not in error.message
    assert os.sep not in error.message
