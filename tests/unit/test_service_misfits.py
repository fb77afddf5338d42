"""Hosts that are too large for any worker are left out and named; the others are shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from loader.errors import ErrorCode, LoaderError
from loader.inspection.limits import InspectionLimits
from loader.inspection.result import Inspection
from loader.storage.base import StoredFile
from loader.tools import HEALTH, RUN_TOOLS
from loader.turns import fitting
from tests.service_bench import Bench, StandInEngine, intake, make_bench, read

MB = 10**6
WARNING = "2 of 3 hosts; c: needs about 30 MB of memory, this worker may use 25 MB"


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """Hosts a and b of some bytes, and c of 1.5 MB, which takes 20 times that at least."""
    made = make_bench(tmp_path)
    made.memory_bytes = 25 * MB
    made.scratch_bytes = 20 * MB
    made.write("c", b"x" * (3 * MB // 2))
    return made


def refusal(
    bench: Bench, hosts: tuple[str, ...] | None = None, is_last: bool = True
) -> LoaderError:
    with pytest.raises(LoaderError) as caught:
        bench.service(StandInEngine()).get(bench.request(hosts=hosts), is_last=is_last)
    return caught.value


def test_a_host_that_never_fits_is_left_out_and_not_fetched(bench: Bench) -> None:
    answered = bench.service(StandInEngine()).get(bench.request(), is_last=True)
    assert answered.result.header.warnings == (WARNING,)
    assert read(answered)[2] == ["a", "b"]
    assert sorted(bench.files.downloads) == ["a.xplane.pb", "b.xplane.pb"]


def test_nobody_is_left_out_while_a_larger_worker_may_show_all(bench: Bench) -> None:
    assert refusal(bench, is_last=False).code is ErrorCode.NEEDS_LARGER_WORKER
    assert bench.files.downloads == []


def test_hosts_that_fit_only_one_by_one_are_too_much_together(bench: Bench) -> None:
    bench.write("c", b"x" * MB)
    for host in "defghij":
        bench.write(host, b"x" * MB)
    error = refusal(bench)
    assert error.code is ErrorCode.NEEDS_LARGER_WORKER
    assert error.message.startswith("This needs about 48 MB of memory; this worker may use 25 MB.")


def test_a_host_that_was_asked_for_is_not_left_out(bench: Bench) -> None:
    assert refusal(bench, ("a", "c")).code is ErrorCode.NEEDS_LARGER_WORKER
    assert refusal(bench, ("c",)).code is ErrorCode.NEEDS_LARGER_WORKER


def test_what_is_left_out_comes_with_more_memory_and_the_next_tool_is_paid_once(
    bench: Bench,
) -> None:
    engine = StandInEngine()
    service = bench.service(engine)
    service.get(bench.request(), is_last=True)
    # The others' set serves the next tool here, ...
    second = service.get(bench.request("op_profile"), is_last=True)
    assert read(second)[4] is True
    assert second.result.header.warnings == (WARNING,)
    # ... and is not taken for the whole one by a worker with more memory.
    bench.now += 61
    bench.memory_bytes = 1000 * MB
    large = bench.service(StandInEngine()).get(bench.request(), is_last=True)
    assert read(large)[2:] == [
        ["a", "b", "c"],
        {"a.xplane.pb": 5, "b.xplane.pb": 6, "c.xplane.pb": 3 * MB // 2},
        False,
    ]
    # From the whole one, a small worker answers with all of them, too.
    bench.memory_bytes = 25 * MB
    small = bench.service(StandInEngine()).get(bench.request("op_profile"), is_last=True)
    bench.now += 61
    small = bench.service(StandInEngine()).get(bench.request("op_profile"), is_last=True)
    assert (read(small)[2], small.result.header.warnings) == (["a", "b", "c"], ())


def test_an_answer_for_want_of_memory_is_kept_as_long_as_a_failure(bench: Bench) -> None:
    answered = bench.service(StandInEngine()).get(bench.request(), is_last=True)
    assert not answered.result.header.is_final
    assert bench.results().contains(answered.key)
    bench.now += 61
    assert not bench.results().contains(answered.key)


def test_no_profile_is_said_to_be_none_before_its_size_is(bench: Bench) -> None:
    """The brief look that a refusal by size is preceded by, when no larger worker comes after."""
    bench.write("c", b"bad" * (MB // 2))
    assert refusal(bench, ("c",), is_last=False).code is ErrorCode.NEEDS_LARGER_WORKER
    error = refusal(bench, ("c",))
    assert (error.code, error.file) == (ErrorCode.MALFORMED, "c.xplane.pb")


def test_what_takes_long_to_fetch_is_refused_by_its_size(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("loader.turns.room._LOOK_BYTES", MB)
    bench.write("c", b"bad" * (MB // 2))
    assert refusal(bench, ("c",)).code is ErrorCode.NEEDS_LARGER_WORKER
    assert bench.files.downloads == []


def unpacking(size: int, events: int = 0) -> Callable[[Path, StoredFile, Path], Inspection]:
    """An intake to which the host c becomes so much."""

    def take_in(path: Path, file: StoredFile, target: Path) -> Inspection:
        found = intake(path, file, target)
        return found if file.name[0] != "c" else replace(found, size=size, events=events)

    return take_in


@pytest.mark.parametrize(
    ("size", "events", "needed"), [(2 * MB, 0, "40 MB"), (2000, 200_000, "60 MB")]
)
def test_what_only_a_look_inside_shows_leaves_out_one_host_too(
    bench: Bench, size: int, events: int, needed: str
) -> None:
    """As of a gzip file, or of events of some bytes each."""
    bench.write("c", b"packed")
    bench.intake = unpacking(size, events)
    engine = StandInEngine()
    answered = bench.service(engine).get(bench.request(), is_last=True)
    assert answered.result.header.warnings == (WARNING.replace("30 MB", needed),)
    assert read(answered)[2:4] == [["a", "b"], {"a.xplane.pb": 5, "b.xplane.pb": 6}]
    # Others make sets that hold all hosts: this one must not take their place.
    assert list((bench.folder / "artifacts").iterdir()) == []
    bench.now += 61
    assert refusal(bench, is_last=False).code is ErrorCode.NEEDS_LARGER_WORKER


@pytest.mark.parametrize("tool", ["hlo_stats", RUN_TOOLS])
def test_a_file_that_is_longer_than_any_profile_is_left_out_and_not_fetched(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, tool: str
) -> None:
    limits = replace(InspectionLimits(), file_bytes=MB)
    monkeypatch.setattr(fitting, "DEFAULT_LIMITS", limits)
    answered = bench.service(StandInEngine()).get(bench.request(tool))
    assert answered.result.header.warnings == (
        "2 of 3 hosts; c: has 0.0 GiB, and XProf reads at most 0.0 GiB",
    )
    assert answered.result.header.is_final
    assert sorted(bench.files.downloads) == ["a.xplane.pb", "b.xplane.pb"]
    error = refusal(bench, ("b", "c"))
    assert (error.code, error.file) == (ErrorCode.TOO_LARGE, "c.xplane.pb")


def test_the_health_of_a_file_that_is_too_long_needs_no_download(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fitting, "DEFAULT_LIMITS", replace(InspectionLimits(), file_bytes=MB))
    for name in "ab":
        bench.write(name, b"x" * (2 * MB))
    rows = read(bench.service(StandInEngine()).get(bench.request(HEALTH)))
    assert isinstance(rows, dict)
    assert [(row["host"], row["reason"], row["size"]) for row in rows["hosts"]] == [
        ("a", "too_large", 2 * MB),
        ("b", "too_large", 2 * MB),
        ("c", "too_large", 3 * MB // 2),
    ]
    assert bench.files.downloads == []
