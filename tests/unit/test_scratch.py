"""The scratch with real files: one download each, read-only, shared, nothing left behind."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from loader.errors import ErrorCode, LoaderError
from loader.intake.scratch import Scratch
from loader.storage.base import StoredFile
from tests.scratch_parts import CountingStorage, Sources, kept, left_behind, open_descriptors


@pytest.fixture
def storage() -> CountingStorage:
    return CountingStorage()


@pytest.fixture
def make(tmp_path: Path) -> Sources:
    return Sources(tmp_path / "source")


@pytest.fixture
def scratch(tmp_path: Path, storage: CountingStorage) -> Iterator[Scratch]:
    """A scratch of 1,000 bytes."""
    scratch = Scratch(tmp_path / "scratch", 1000, storage)
    yield scratch
    scratch.close()


def test_files_come_in_order_complete_and_read_only(scratch: Scratch, make: Sources) -> None:
    files = [make("b", 3, b"b"), make("a", 2, b"a"), make("empty", 0)]
    with scratch.fetch(files) as paths:
        assert [path.read_bytes() for path in paths] == [b"bbb", b"aa", b""]
        assert {stat.S_IMODE(path.stat().st_mode) for path in paths} == {0o444}


def test_a_fetch_tells_how_many_bytes_are_there(scratch: Scratch, make: Sources) -> None:
    files = [make("a", 250), make("b", 7), make("empty", 0)]
    for wanted in (files[:2], files):  # also what is there already
        counts: list[int] = []
        with scratch.fetch(wanted, counts.append):
            assert sum(counts) == 257


def test_a_large_download_is_told_in_pieces(tmp_path: Path, make: Sources) -> None:
    counts: list[int] = []
    scratch = Scratch(tmp_path / "large", 10_000_000, CountingStorage())
    with scratch.fetch([make("a", 5_000_000)], counts.append):
        assert sum(counts) == 5_000_000
    assert len([count for count in counts if count]) > 1
    scratch.close()


def test_a_file_is_downloaded_once(
    scratch: Scratch, storage: CountingStorage, make: Sources
) -> None:
    file = make("a")
    for _ in range(3):
        with scratch.fetch([file, file]) as paths:
            assert paths[0] == paths[1]
    assert storage.downloads == ["a"]


def test_another_generation_is_another_file(scratch: Scratch, make: Sources) -> None:
    with (
        scratch.fetch([make("a", 3, b"1")]) as (old,),
        scratch.fetch([make("a", 3, b"2")]) as (new,),
    ):
        assert (old.read_bytes(), new.read_bytes()) == (b"111", b"222")


def test_many_threads_share_one_download(
    scratch: Scratch, storage: CountingStorage, make: Sources
) -> None:
    file, together = make("a"), threading.Barrier(8)

    def read() -> bytes:
        together.wait()
        with scratch.fetch([file]) as (path,):
            return path.read_bytes()

    with ThreadPoolExecutor(8) as pool:
        results = [task.result() for task in [pool.submit(read) for _ in range(8)]]
    assert results == [b"x" * 10] * 8
    assert storage.downloads == ["a"]


def test_a_file_that_others_finish_while_it_is_looked_for_stays(
    scratch: Scratch, storage: CountingStorage, make: Sources, monkeypatch: pytest.MonkeyPatch
) -> None:
    look, finished = Path.stat, list[Path]()

    def finished_a_moment_later(path: Path, *, follow_symlinks: bool = True) -> os.stat_result:
        try:
            return look(path, follow_symlinks=follow_symlinks)
        except FileNotFoundError:
            if path.parent.name == "files" and not finished:
                finished.append(path)
                path.write_bytes(b"y" * 10)
            raise

    monkeypatch.setattr(Path, "stat", finished_a_moment_later)
    with scratch.fetch([make("a")]) as (path,):
        assert path.read_bytes() == b"y" * 10
    assert storage.downloads == []


def test_downloads_run_at_once_up_to_the_limit(
    tmp_path: Path, storage: CountingStorage, make: Sources
) -> None:
    together = threading.Barrier(3)  # breaks unless three are in it at the same time
    storage.before = lambda file, path: (together.wait(20), None)[1]
    scratch = Scratch(tmp_path / "scratch", 1000, storage, parallel_downloads=3)
    with scratch.fetch([make(name) for name in "abc"]) as paths:
        assert len(paths) == 3
    scratch.close()


def test_a_restart_finds_the_files_and_their_order(
    scratch: Scratch, storage: CountingStorage, make: Sources, tmp_path: Path
) -> None:
    a, b = make("a", 400), make("b", 400)
    for file in (a, b, a):
        with scratch.fetch([file]):
            pass
    again = Scratch(tmp_path / "scratch", 1000, storage)
    with again.fetch([make("c", 400)]), again.fetch([a]):
        assert storage.downloads == ["a", "b", "c"]
    again.close()


def test_a_failed_download_leaves_nothing_and_the_next_one_works(
    scratch: Scratch, storage: CountingStorage, make: Sources, tmp_path: Path
) -> None:
    good, bad = make("good"), make("bad")

    def fail(file: StoredFile, path: Path) -> None:
        if file.name == "bad":
            path.write_bytes(b"half")
            raise LoaderError(ErrorCode.STORAGE_UNAVAILABLE, "gone")

    storage.before = fail
    with pytest.raises(LoaderError) as caught, scratch.fetch([good, bad]):
        pass
    assert caught.value.code is ErrorCode.STORAGE_UNAVAILABLE
    assert kept(tmp_path / "scratch") == good.size
    storage.before = lambda file, path: None
    with scratch.fetch([good, bad]) as paths:
        assert paths[1].read_bytes() == b"x" * 10
    with scratch.fetch([make("large", 1000)]):  # nothing of the failed attempt is still pinned
        pass


def test_an_entry_of_the_wrong_size_is_fetched_again(
    scratch: Scratch, storage: CountingStorage, make: Sources
) -> None:
    file = make("a")
    with scratch.fetch([file]) as (path,):
        pass
    path.chmod(0o600)
    path.write_bytes(b"")  # as after a crash of the machine
    with scratch.fetch([file]) as (path,):
        assert path.read_bytes() == b"x" * 10
    assert storage.downloads == ["a", "a"]


def test_pins_end_with_the_context_also_after_an_error(scratch: Scratch, make: Sources) -> None:
    with pytest.raises(RuntimeError), scratch.fetch([make("a", 600)]):
        raise RuntimeError
    with scratch.fetch([make("b", 600)]):
        pass


def test_no_pin_is_left_when_a_download_cannot_be_started(scratch: Scratch, make: Sources) -> None:
    here, missing = make("here"), make("missing")
    with scratch.fetch([here]):
        pass
    before = open_descriptors()
    scratch.close()
    with pytest.raises(RuntimeError), scratch.fetch([here, missing]):
        pass
    assert open_descriptors() == before


def test_no_pin_is_left_when_nobody_wants_what_is_there(
    scratch: Scratch, make: Sources, tmp_path: Path
) -> None:
    file = make("one")
    with scratch.fetch([file]):
        pass

    def not_wanted(_count: int) -> None:
        raise LoaderError(ErrorCode.CANCELLED, "not wanted any more")

    before = open_descriptors()
    with pytest.raises(LoaderError), scratch.fetch([file], not_wanted):
        pytest.fail("it was fetched")
    assert list((tmp_path / "scratch" / "pins").iterdir()) == []
    assert open_descriptors() == before


def test_a_job_directory_is_private_new_and_removed(scratch: Scratch) -> None:
    with scratch.job_directory() as first, scratch.job_directory() as second:
        assert first != second
        assert stat.S_IMODE(first.stat().st_mode) == 0o700
        (first / "deep").mkdir()
        (first / "deep" / "file").write_bytes(b"x")
    assert not first.exists()
    assert not second.exists()


def test_a_job_directory_is_removed_after_an_error_and_without_permissions(
    scratch: Scratch,
) -> None:
    with pytest.raises(RuntimeError), scratch.job_directory() as path:
        (path / "closed" / "inner").mkdir(parents=True)
        (path / "closed").chmod(0)
        path.chmod(0)
        raise RuntimeError
    assert not path.exists()


def test_removing_a_job_directory_does_not_follow_links(scratch: Scratch, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").touch()
    outside.chmod(0o500)
    with scratch.job_directory() as path:
        (path / "link").symlink_to(outside)
    assert (outside / "file").exists()
    assert stat.S_IMODE(outside.stat().st_mode) == 0o500


def test_leftovers_of_dead_processes_go_and_those_of_the_living_stay(
    scratch: Scratch, storage: CountingStorage, tmp_path: Path
) -> None:
    dead = tmp_path / "scratch" / "jobs" / "dead"
    (dead / "inner").mkdir(parents=True)
    (tmp_path / "scratch" / "partial" / "dead").write_bytes(b"half")
    with scratch.job_directory() as living:
        Scratch(tmp_path / "scratch", 1000, storage).close()
        assert living.exists()
    assert not dead.exists()
    assert kept(tmp_path / "scratch") == 0


OTHER_PROCESS = """
import sys
from pathlib import Path
from loader.intake.scratch import Scratch
from loader.storage.local import LocalStorage

storage = LocalStorage()
scratch = Scratch(Path(sys.argv[1]), 1000, storage)
with scratch.fetch(storage.list_files(sys.argv[2])), scratch.job_directory():
    print("ready", flush=True)
    sys.stdin.read()
"""


def test_another_process_pins_too_until_it_dies(
    scratch: Scratch, storage: CountingStorage, make: Sources, tmp_path: Path
) -> None:
    theirs, ours = make("a", 600), make("b", 600)
    command = [sys.executable, "-c", OTHER_PROCESS, str(tmp_path / "scratch"), theirs.location]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        with pytest.raises(LoaderError) as caught, scratch.fetch([ours]):
            pass
        assert caught.value.code is ErrorCode.BUSY
        with scratch.fetch([theirs]):
            assert storage.downloads == []
        process.kill()
    with scratch.fetch([ours]) as (path,):
        assert path.stat().st_size == 600
    Scratch(tmp_path / "scratch", 1000, storage).close()
    assert list((tmp_path / "scratch" / "jobs").iterdir()) == []


def test_an_empty_file_is_made_without_asking_the_storage(
    scratch: Scratch, storage: CountingStorage
) -> None:
    with scratch.fetch([StoredFile("/nowhere/empty", "empty", 0, "1")]) as (path,):
        assert path.read_bytes() == b""
    assert storage.downloads == []


def test_a_download_that_nobody_waits_for_any_more_counts_until_it_ends(
    scratch: Scratch,
    storage: CountingStorage,
    make: Sources,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    has_begun, go_on = threading.Event(), threading.Event()

    def stand_still(file: StoredFile, path: Path) -> None:
        has_begun.set()
        go_on.wait(20)

    def interrupted(tasks: list[Future[None]]) -> None:
        """What waiting for downloads is under Ctrl-C: a real signal may hit whatever runs beside it."""
        assert has_begun.wait(20)
        raise KeyboardInterrupt

    monkeypatch.setattr("loader.intake.scratch.wait", interrupted)
    before = open_descriptors()
    storage.before = stand_still
    with pytest.raises(KeyboardInterrupt), scratch.fetch([make("a")]):
        pass
    with pytest.raises(LoaderError) as caught, scratch.fetch([make("large", 1000)]):
        pass
    assert caught.value.code is ErrorCode.BUSY
    go_on.set()
    scratch.close()
    assert storage.downloads == ["a"]
    assert open_descriptors() == before
    assert left_behind(tmp_path / "scratch") == []


def test_what_a_job_could_not_remove_goes_with_the_next_job(
    scratch: Scratch, tmp_path: Path
) -> None:
    dead = tmp_path / "scratch" / "jobs" / "dead"
    (dead / "inner").mkdir(parents=True)
    with scratch.job_directory() as living, scratch.job_directory():
        assert living.exists()
        assert not dead.exists()
