"""What reaches the engine for a redacted answer, and what is said when nothing can."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from loader.catalog import HostFile
from loader.conversion.answers import health
from loader.errors import ErrorCode, LoaderError
from loader.inspection.result import Inspection
from loader.intake.remembered import RememberedIntake
from loader.intake.scratch import Scratch
from loader.redaction.intake import RedactedIntake
from loader.redaction.pseudonyms import Pseudonyms
from loader.storage.base import StoredFile
from tests.scratch_parts import CountingStorage
from tests.wire_bytes import block, good_profile, line, plane

NAME = "host-0.xplane.pb"
HUSHED = plane("/host:CPU", line("my_hush"))


class Entry:
    """A shared file and a job."""

    def __init__(self, folder: Path) -> None:
        self.shared = folder / "shared"
        self.scratch = Scratch(folder / "scratch", 1 << 24, CountingStorage())
        self.intake = RedactedIntake(RememberedIntake(), Pseudonyms("secret"), self.scratch)

    def file(self, data: bytes) -> StoredFile:
        self.shared.write_bytes(data)
        return StoredFile(f"/sessions/{NAME}", NAME, len(data), "1", 1_700_000_000.0)

    def take_in(self, data: bytes) -> tuple[Inspection, bytes]:
        with self.scratch.job_directory() as job:
            found = self.intake(self.shared, self.file(data), job / NAME)
            assert [path.name for path in job.iterdir()] == [NAME]
            assert (job / NAME).stat().st_mode & 0o222 == 0
            return found, (job / NAME).read_bytes()


@pytest.fixture
def entry(tmp_path: Path) -> Entry:
    return Entry(tmp_path)


def test_the_engine_gets_the_copy_and_the_original_stays(entry: Entry) -> None:
    data = good_profile() + HUSHED
    found, copy = entry.take_in(data)
    assert b"hush" not in copy
    assert entry.shared.read_bytes() == data
    assert (found.planes, found.hostnames) == (5, ("host-0",))
    assert "hush" not in repr(found)


def test_a_compressed_and_a_repaired_profile(entry: Entry) -> None:
    packed, _ = entry.take_in(gzip.compress(good_profile()))
    assert packed.is_plain
    unreadable = good_profile() + plane("/host:x", line("caf\u00e9")).replace(b"\xc3\xa9", b"\xe9x")
    repaired, copy = entry.take_in(unreadable)
    assert b"caf" not in copy
    assert not repaired.is_plain


def test_another_hosts_name_is_a_text_like_any(entry: Entry) -> None:
    found, _ = entry.take_in(good_profile() + block(4, "secret-host"))
    assert found.hostnames[0] == "host-0"
    assert "secret-host" not in found.hostnames[1]


def test_an_error_does_not_repeat_what_the_profiler_reported(entry: Entry) -> None:
    with pytest.raises(LoaderError) as caught:
        entry.take_in(block(2, "failed in hush.py"))
    assert caught.value.code is ErrorCode.MALFORMED
    assert caught.value.file == NAME
    assert caught.value.message.startswith(
        "This file is not a readable XProf profile (it has no planes)."
    )
    assert "hush" not in caught.value.message


def test_the_health_of_a_host_tells_no_text(entry: Entry) -> None:
    reported = good_profile() + HUSHED + HUSHED + block(3, "hush") + block(4, "hush")
    host = HostFile("host-0", entry.file(reported))
    with entry.scratch.job_directory() as job:
        made = health(entry.intake, [(host, entry.shared)], (), job, lambda _: None)
        assert made.profiles_of == ("host-0",)
        import zstandard

        body = zstandard.ZstdDecompressor().decompress(made.body.read_bytes())
    assert b"hush" not in body
    assert b'"usable": true' in body
