"""The time, and the disk, that all profiles of one conversion get together."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from loader.conversion.bounded_intake import timed
from loader.errors import ErrorCode, LoaderError
from loader.inspection.result import Inspection
from loader.storage.base import StoredFile
from loader.tools import HEALTH
from tests.service_bench import Bench, StandInEngine, intake, make_bench, read

KB = 1000


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    made = make_bench(tmp_path)
    made.write("c", b"third")
    return made


def unpack(path: Path, file: StoredFile, target: Path) -> Inspection:
    """Each host becomes 40 KB."""
    found = intake(path, file, target)
    target.unlink()
    target.write_bytes(bytes(40 * KB))
    return replace(found, size=40 * KB)


def test_no_profile_is_begun_after_the_end(tmp_path: Path) -> None:
    file = StoredFile("/s/a.xplane.pb", "a.xplane.pb", 5, "1")
    (tmp_path / "a").write_bytes(b"whole")
    assert timed(intake, time.monotonic() + 60)(tmp_path / "a", file, tmp_path / "b").planes == 1
    with pytest.raises(LoaderError) as caught:
        timed(intake, time.monotonic())(tmp_path / "a", file, tmp_path / "c")
    assert caught.value.code is ErrorCode.TIMED_OUT


@pytest.mark.parametrize("tool", ["hlo_stats", "run_tools", HEALTH])
def test_slow_inspections_of_many_hosts_get_the_time_of_one_conversion(
    bench: Bench, tool: str
) -> None:
    """A host of 0.2 s each where a conversion may take 0.1 s: one is looked at."""
    seen: list[str] = []

    def slow(path: Path, file: StoredFile, target: Path) -> Inspection:
        seen.append(file.name)
        time.sleep(0.2)
        return intake(path, file, target)

    bench.intake = slow
    bench.seconds = 0.1
    engine = StandInEngine()
    with pytest.raises(LoaderError) as caught:
        bench.service(engine).get(bench.request(tool))
    assert caught.value.code is ErrorCode.TIMED_OUT
    assert (seen, engine.jobs) == (["a.xplane.pb"], [])


def test_what_is_unpacked_takes_its_place_in_the_scratch(bench: Bench) -> None:
    """Two of three fit: the third is left out, and takes no place in the job's directory."""
    bench.scratch_bytes = 100 * KB
    bench.intake = unpack
    answered = bench.service(StandInEngine()).get(bench.request())
    profiles = {f"{host}.xplane.pb": 40 * KB for host in "ab"}
    assert read(answered)[2:4] == [["a", "b"], profiles]
    assert answered.result.header.warnings == (
        "2 of 3 hosts; c: unpacked, it is more than the 97.7 KiB of disk that profiles may take",
    )


def test_a_host_beyond_the_disk_that_was_asked_for_is_refused(bench: Bench) -> None:
    bench.scratch_bytes = 30 * KB
    bench.intake = unpack
    with pytest.raises(LoaderError) as caught:
        bench.service(StandInEngine()).get(bench.request(hosts=("a",)))
    assert caught.value.code is ErrorCode.TOO_LARGE
    assert "XPROF_HUB_SCRATCH_BYTES" in caught.value.message


def test_health_never_takes_trouble_of_ours_for_the_files(bench: Bench) -> None:
    """A full disk, say, would else be remembered as the hosts' fault for a week."""

    def fail(path: Path, file: StoredFile, target: Path) -> Inspection:
        raise LoaderError(ErrorCode.INTERNAL, "The scratch disk is full.", file.name)

    bench.intake = fail
    with pytest.raises(LoaderError) as caught:
        bench.service(StandInEngine()).get(bench.request(HEALTH))
    assert caught.value.code is ErrorCode.INTERNAL
    bench.intake = intake
    rows = read(bench.service(StandInEngine()).get(bench.request(HEALTH)))
    assert isinstance(rows, dict)
    assert [row["usable"] for row in rows["hosts"]] == [True] * 3
