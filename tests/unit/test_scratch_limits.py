"""The bounds of the scratch with real files: bytes, files, open files, and work for many files."""

from __future__ import annotations

import errno
import itertools
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from types import FrameType

import pytest

import loader.intake.scratch as scratch_module
from loader.errors import ErrorCode, LoaderError
from loader.intake.scratch import Scratch
from loader.storage.base import StoredFile
from tests.scratch_parts import (
    CountingStorage,
    Sources,
    few_descriptors,
    kept,
    left_behind,
    open_descriptors,
)
from tests.services.small_disk import fill, small_disk


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


def test_the_longest_unused_file_is_evicted(
    scratch: Scratch, storage: CountingStorage, make: Sources, tmp_path: Path
) -> None:
    a, b, c = (make(name, 400) for name in "abc")
    for file in (a, b, a, c):  # b is the longest unused when c needs room
        with scratch.fetch([file]):
            pass
        assert kept(tmp_path / "scratch") <= 1000
    with scratch.fetch([a]):
        pass
    assert storage.downloads == ["a", "b", "c"]
    with scratch.fetch([b]):
        pass
    assert storage.downloads == ["a", "b", "c", "b"]


def test_files_in_use_are_never_evicted(scratch: Scratch, make: Sources) -> None:
    with scratch.fetch([make("a", 600)]) as (path,):
        with pytest.raises(LoaderError) as caught, scratch.fetch([make("b", 600)]):
            pass
        assert caught.value.code is ErrorCode.BUSY
        assert caught.value.file == "b"
        assert path.read_bytes() == b"x" * 600
    with scratch.fetch([make("b", 600)]) as (path,):
        assert path.read_bytes() == b"x" * 600


def test_what_can_never_fit_is_too_large_and_names_the_sizes(
    scratch: Scratch, storage: CountingStorage, make: Sources
) -> None:
    with pytest.raises(LoaderError) as caught, scratch.fetch([make("a", 600), make("b", 600)]):
        pass
    assert caught.value.code is ErrorCode.TOO_LARGE
    assert "1.2 KiB" in caught.value.message
    assert "1000 bytes" in caught.value.message
    assert storage.downloads == []


def test_exactly_the_limit_fits(scratch: Scratch, make: Sources) -> None:
    with scratch.fetch([make("a", 500), make("b", 500)]) as paths:
        assert len(paths) == 2


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_named_and_leaves_nothing(
    scratch: Scratch,
    storage: CountingStorage,
    make: Sources,
    tmp_path: Path,
    number: int,
) -> None:
    def fill(file: StoredFile, path: Path) -> None:
        raise OSError(number, os.strerror(number), str(path))

    storage.before = fill
    with pytest.raises(LoaderError) as caught, scratch.fetch([make("a")]):
        pass
    assert (caught.value.code, caught.value.retry_after) == (ErrorCode.WORKER_FULL, 30)
    assert "scratch disk is full" in caught.value.message
    assert str(tmp_path) not in caught.value.message
    assert kept(tmp_path / "scratch") == 0


def test_a_really_full_disk(storage: CountingStorage, make: Sources, tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "64k") as disk:
        scratch = Scratch(disk, 1 << 20, storage)
        with pytest.raises(LoaderError) as caught, scratch.fetch([make("a", 100_000)]):
            pass
        assert "scratch disk is full" in caught.value.message
        assert list((disk / "files").iterdir()) + list((disk / "partial").iterdir()) == []
        with scratch.fetch([make("b", 1000)]) as (path,):
            assert path.stat().st_size == 1000
        scratch.close()


def test_a_disk_that_others_fill_has_room_again_when_they_leave(
    storage: CountingStorage, tmp_path: Path
) -> None:
    with small_disk(tmp_path / "disk", "4m") as disk:
        scratch = Scratch(disk, 1 << 20, storage)
        assert scratch.has_room()
        filler = fill(disk)
        assert not scratch.has_room()
        with pytest.raises(LoaderError) as caught, scratch.fetch([Sources(tmp_path / "s")("a")]):
            pass
        assert caught.value.code is ErrorCode.WORKER_FULL
        filler.unlink()
        assert scratch.has_room()
        with scratch.job_directory():
            pass
        scratch.close()


def test_a_full_disk_is_cleared_of_unused_profiles_before_anybody_is_sent_away(
    storage: CountingStorage, make: Sources, tmp_path: Path
) -> None:
    with small_disk(tmp_path / "disk", "4m") as disk:
        scratch = Scratch(disk, 4 << 20, storage)
        with scratch.fetch([make("a", 2 << 20)]):
            fill(disk)
            assert not scratch.has_room()  # it is in use
        assert scratch.has_room()
        with scratch.job_directory() as job:
            (job / "work").write_bytes(b"x" * (1 << 20))
        scratch.close()


def test_what_else_is_kept_on_the_disk_gives_way_when_profiles_have_gone(
    storage: CountingStorage, make: Sources, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    scratch = Scratch(tmp_path / "scratch", 1000, storage, give_way=asked.append)
    free = 300 + scratch_module._SPARE_BYTES
    monkeypatch.setattr(scratch_module, "free_bytes", lambda _folder: free)
    with scratch.fetch([make("a", 300)]):
        pass
    assert asked == []
    # The unused file of 300 bytes goes, and 200 are lacking still.
    with scratch.fetch([make("b", 800)]):
        pass
    assert asked == [200]
    scratch.close()


def test_room_is_made_on_a_disk_that_is_smaller_than_was_said(
    scratch: Scratch, make: Sources, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = tmp_path / "scratch" / "files"
    a, b, c = (make(name, 200) for name in "abc")
    for file in (a, b):
        with scratch.fetch([file]):
            pass
    # 1,000 bytes are allowed, but the disk lacks one for the third file beside what is to stay free.
    lacking = 200 + scratch_module._SPARE_BYTES - 1
    monkeypatch.setattr(scratch_module, "free_bytes", lambda _folder: lacking)
    with scratch.fetch([c]):
        assert len(list(files.iterdir())) == 2
    with scratch.fetch([b]):
        assert len(list(files.iterdir())) == 2  # the longest unused one has gone


def test_no_descriptor_is_left_open(scratch: Scratch, make: Sources) -> None:
    def use() -> None:
        with scratch.fetch([make("a", 600)]), scratch.job_directory():
            pass
        with scratch.fetch([make("b", 600)]):
            pass

    use()
    before = open_descriptors()
    for _ in range(5):
        use()
    assert open_descriptors() == before


def test_the_limit_holds_while_many_threads_use_the_scratch(
    scratch: Scratch, make: Sources, tmp_path: Path
) -> None:
    files = [make(f"f{index}", 90, bytes([65 + index])) for index in range(20)]
    largest = 0

    def use(turn: int) -> None:
        nonlocal largest
        with ExitStack() as stack:
            for step in (1, 3):
                file = files[(turn * step) % len(files)]
                (path,) = stack.enter_context(scratch.fetch([file]))
                assert path.read_bytes() == Path(file.location).read_bytes()
            largest = max(largest, kept(tmp_path / "scratch"))

    with ThreadPoolExecutor(4) as pool:
        for task in [pool.submit(use, turn) for turn in range(100)]:
            task.result()
    assert 0 < largest <= 1000
    assert kept(tmp_path / "scratch") <= 1000


def test_room_for_all_files_is_taken_before_the_first_download(
    scratch: Scratch, storage: CountingStorage, make: Sources
) -> None:
    used, small, large = make("used", 500), make("small", 100), make("large", 500)
    with scratch.fetch([used]):
        with pytest.raises(LoaderError) as caught, scratch.fetch([small, large]):
            pass
        assert caught.value.code is ErrorCode.BUSY
        assert "100 bytes are missing" in caught.value.message
    assert storage.downloads == ["used"]


def test_a_refused_fetch_evicts_nothing(
    scratch: Scratch, storage: CountingStorage, make: Sources
) -> None:
    unused, used, large = make("unused", 400), make("used", 500), make("large", 600)
    with scratch.fetch([unused]):
        pass
    with scratch.fetch([used]):
        with pytest.raises(LoaderError), scratch.fetch([large]):
            pass
        with scratch.fetch([unused]):
            pass
    assert storage.downloads == ["unused", "used"]


def empty_files(number: int) -> list[StoredFile]:
    return [StoredFile(f"/session/{index}", str(index), 0, "1") for index in range(number)]


def test_as_many_hosts_as_allowed_are_fetched(scratch: Scratch) -> None:
    with scratch.fetch(empty_files(4096)) as paths:
        assert len({path.stat().st_ino for path in paths}) == 4096


@pytest.mark.parametrize("number", [4097, 10_000])
def test_more_hosts_are_too_large_and_the_sentence_says_what_to_do(
    scratch: Scratch, tmp_path: Path, number: int
) -> None:
    with pytest.raises(LoaderError) as caught, scratch.fetch(empty_files(number)):
        pass
    assert caught.value.code is ErrorCode.TOO_LARGE
    for part in (f"{number:,} hosts", "4,096", "choose fewer"):
        assert part in caught.value.message
    assert list((tmp_path / "scratch" / "files").iterdir()) == []


def calls_of_fetching(number: int, size: int, folder: Path) -> int:
    """Calls into the interpreter's C code, thus also all system calls, for a scratch of so many files.

    They are fetched, found again, and replaced by as many others.
    """
    folder.mkdir()
    make, counter = Sources(folder / "source"), itertools.count()
    first = [make(f"a{index}", size) for index in range(number)]
    second = [make(f"b{index}", size) for index in range(number)]

    def note(frame: FrameType, event: str, argument: object) -> None:
        if event == "c_call":
            next(counter)

    scratch = Scratch(folder / "scratch", max(1, number * size), CountingStorage())
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        for files in (first, first, second):
            with scratch.fetch(files):
                pass
        scratch.close()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    assert kept(folder / "scratch") == number * size
    return next(counter)


@pytest.mark.parametrize("size", [0, 1])
def test_work_grows_with_the_files_and_not_with_their_square(tmp_path: Path, size: int) -> None:
    few = calls_of_fetching(500, size, tmp_path / "few")
    many = calls_of_fetching(1000, size, tmp_path / "many")
    assert many < 2.5 * few


MANY_FILES = """
import sys
from pathlib import Path
from loader.intake.scratch import Scratch
from loader.storage.local import LocalStorage

storage = LocalStorage()
scratch = Scratch(Path(sys.argv[1]), 1000, storage)
files = storage.list_files(sys.argv[2])
with scratch.fetch(files) as paths, scratch.job_directory():
    print(sum(path.stat().st_size for path in paths))
"""


def test_open_files_do_not_grow_with_the_hosts(
    make: Sources, tmp_path: Path, scratch: Scratch
) -> None:
    for number in range(500):
        make(f"f{number}", 1)
    command = [
        sys.executable,
        "-c",
        MANY_FILES,
        str(tmp_path / "scratch"),
        str(tmp_path / "source"),
    ]
    limited = ["sh", "-c", 'ulimit -n 64 && exec "$@"', "sh", *command]
    done = subprocess.run(limited, capture_output=True, text=True, check=True)
    assert done.stdout == "500\n"
    assert left_behind(tmp_path / "scratch") == []


@pytest.mark.parametrize("free", range(16))
def test_a_fetch_without_descriptors_ends_in_a_sentence_and_leaves_nothing(
    scratch: Scratch, make: Sources, tmp_path: Path, free: int
) -> None:
    files = [make(f"f{number}") for number in range(20)]
    before = open_descriptors()
    try:
        with few_descriptors(free), scratch.fetch(files) as paths:
            assert len(paths) == 20
            assert free > 0
    except LoaderError as error:
        # The storage has its own words for a file of the user's that it can't open.
        assert error.code in {ErrorCode.BUSY, ErrorCode.STORAGE_UNAVAILABLE}
        assert str(tmp_path) not in error.message
    assert open_descriptors() == before
    assert left_behind(tmp_path / "scratch") == []
    with scratch.fetch([make("large", 1000)]):  # evicts all others, for none is pinned
        pass


def test_a_fetch_that_can_open_nothing_is_busy(scratch: Scratch, make: Sources) -> None:
    file = make("a")
    with pytest.raises(LoaderError) as caught, few_descriptors(0), scratch.fetch([file]):
        pass
    assert caught.value.code is ErrorCode.BUSY
    assert "as many files open as it may" in caught.value.message


@pytest.mark.parametrize("free", range(6))
def test_a_job_directory_without_descriptors_ends_in_a_sentence_and_leaves_nothing(
    scratch: Scratch, tmp_path: Path, free: int
) -> None:
    before = open_descriptors()
    try:
        with few_descriptors(free), scratch.job_directory() as path:
            (path / "deep").mkdir()
            assert free > 1
    except LoaderError as error:
        assert error.code is ErrorCode.BUSY
    assert open_descriptors() == before
    with scratch.job_directory() as path:
        assert left_behind(tmp_path / "scratch") == [path]
    assert left_behind(tmp_path / "scratch") == []


def test_a_failing_disk_is_logged_with_its_reason_and_answered_without_a_path(
    scratch: Scratch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "scratch").rename(tmp_path / "gone")
    (tmp_path / "scratch").write_text("not a directory")
    with pytest.raises(LoaderError) as caught, scratch.job_directory():
        pass
    assert (caught.value.code, caught.value.file) == (ErrorCode.INTERNAL, None)
    assert "ENOTDIR" in caught.value.message
    assert str(tmp_path) not in caught.value.message
    assert "NotADirectoryError" in caplog.text
