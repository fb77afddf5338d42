"""The scratch with real files: one download each, read-only, bounded, nothing left behind."""

from __future__ import annotations

import errno
import fcntl
import os
import resource
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from loader.errors import ErrorCode, LoaderError
from loader.scratch import Scratch
from loader.storage.base import StoredFile
from loader.storage.local import LocalStorage


class CountingStorage(LocalStorage):
    """Real local storage that counts downloads and can be made to wait or fail in the middle."""

    def __init__(self) -> None:
        self.downloads: list[str] = []
        self.before: Callable[[StoredFile, Path], None] = lambda file, path: None

    def download(self, file: StoredFile, destination: Path) -> None:
        self.downloads.append(file.name)
        self.before(file, destination)
        super().download(file, destination)


@pytest.fixture
def storage() -> CountingStorage:
    return CountingStorage()


@pytest.fixture
def scratch(tmp_path: Path, storage: CountingStorage) -> Iterator[Scratch]:
    """A scratch of 1,000 bytes."""
    scratch = Scratch(tmp_path / "scratch", 1000, storage)
    yield scratch
    scratch.close()


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., StoredFile]:
    """Makes a source file of some bytes and lists it."""
    (tmp_path / "source").mkdir()

    def make(name: str, size: int = 10, fill: bytes = b"x") -> StoredFile:
        path = tmp_path / "source" / name
        path.write_bytes(fill * size)
        return LocalStorage().list_files(str(path))[0]

    return make


def kept(tmp_path: Path) -> int:
    """Bytes on disk in the scratch's downloads, finished and under way, while none of them moves."""
    folders = (tmp_path / "scratch" / "files", tmp_path / "scratch" / "partial")
    with (tmp_path / "scratch" / "lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        total = 0
        for path in (path for folder in folders for path in folder.iterdir()):
            with suppress(FileNotFoundError):  # a download that was not needed after all
                total += path.stat().st_size
        return total


def test_files_come_in_order_complete_and_read_only(
    scratch: Scratch, make: Callable[..., StoredFile]
) -> None:
    files = [make("b", 3, b"b"), make("a", 2, b"a"), make("empty", 0)]
    with scratch.fetch(files) as paths:
        assert [path.read_bytes() for path in paths] == [b"bbb", b"aa", b""]
        assert {stat.S_IMODE(path.stat().st_mode) for path in paths} == {0o444}


def test_a_file_is_downloaded_once(
    scratch: Scratch, storage: CountingStorage, make: Callable[..., StoredFile]
) -> None:
    file = make("a")
    for _ in range(3):
        with scratch.fetch([file, file]) as paths:
            assert paths[0] == paths[1]
    assert storage.downloads == ["a"]


def test_another_generation_is_another_file(
    scratch: Scratch, make: Callable[..., StoredFile]
) -> None:
    with (
        scratch.fetch([make("a", 3, b"1")]) as (old,),
        scratch.fetch([make("a", 3, b"2")]) as (new,),
    ):
        assert (old.read_bytes(), new.read_bytes()) == (b"111", b"222")


def test_many_threads_share_one_download(
    scratch: Scratch, storage: CountingStorage, make: Callable[..., StoredFile]
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


def test_downloads_run_at_once_up_to_the_limit(
    tmp_path: Path, storage: CountingStorage, make: Callable[..., StoredFile]
) -> None:
    together = threading.Barrier(3)  # breaks unless three are in it at the same time
    storage.before = lambda file, path: (together.wait(20), None)[1]
    scratch = Scratch(tmp_path / "scratch", 1000, storage, parallel_downloads=3)
    with scratch.fetch([make(name) for name in "abc"]) as paths:
        assert len(paths) == 3
    scratch.close()


def test_the_longest_unused_file_is_evicted(
    scratch: Scratch, storage: CountingStorage, make: Callable[..., StoredFile], tmp_path: Path
) -> None:
    a, b, c = (make(name, 400) for name in "abc")
    for file in (a, b, a, c):  # b is the longest unused when c needs room
        with scratch.fetch([file]):
            pass
        assert kept(tmp_path) <= 1000
    with scratch.fetch([a]):
        pass
    assert storage.downloads == ["a", "b", "c"]
    with scratch.fetch([b]):
        pass
    assert storage.downloads == ["a", "b", "c", "b"]


def test_files_in_use_are_never_evicted(scratch: Scratch, make: Callable[..., StoredFile]) -> None:
    with scratch.fetch([make("a", 600)]) as (path,):
        with pytest.raises(LoaderError) as caught, scratch.fetch([make("b", 600)]):
            pass
        assert caught.value.code is ErrorCode.BUSY
        assert caught.value.file == "b"
        assert path.read_bytes() == b"x" * 600
    with scratch.fetch([make("b", 600)]) as (path,):
        assert path.read_bytes() == b"x" * 600


def test_what_can_never_fit_is_too_large_and_names_the_sizes(
    scratch: Scratch, storage: CountingStorage, make: Callable[..., StoredFile]
) -> None:
    with pytest.raises(LoaderError) as caught, scratch.fetch([make("a", 600), make("b", 600)]):
        pass
    assert caught.value.code is ErrorCode.TOO_LARGE
    assert "1.2 KiB" in caught.value.message
    assert "1000 bytes" in caught.value.message
    assert storage.downloads == []


def test_exactly_the_limit_fits(scratch: Scratch, make: Callable[..., StoredFile]) -> None:
    with scratch.fetch([make("a", 500), make("b", 500)]) as paths:
        assert len(paths) == 2


def test_a_restart_finds_the_files_and_their_order(
    scratch: Scratch, storage: CountingStorage, make: Callable[..., StoredFile], tmp_path: Path
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
    scratch: Scratch, storage: CountingStorage, make: Callable[..., StoredFile], tmp_path: Path
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
    assert kept(tmp_path) == good.size
    storage.before = lambda file, path: None
    with scratch.fetch([good, bad]) as paths:
        assert paths[1].read_bytes() == b"x" * 10
    with scratch.fetch([make("large", 1000)]):  # nothing of the failed attempt is still pinned
        pass


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_named_and_leaves_nothing(
    scratch: Scratch,
    storage: CountingStorage,
    make: Callable[..., StoredFile],
    tmp_path: Path,
    number: int,
) -> None:
    def fill(file: StoredFile, path: Path) -> None:
        raise OSError(number, os.strerror(number), str(path))

    storage.before = fill
    with pytest.raises(LoaderError) as caught, scratch.fetch([make("a")]):
        pass
    assert caught.value.code is ErrorCode.INTERNAL
    assert "scratch disk is full" in caught.value.message
    assert str(tmp_path) not in caught.value.message
    assert kept(tmp_path) == 0


def test_a_really_full_disk(
    storage: CountingStorage, make: Callable[..., StoredFile], tmp_path: Path
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small file system needs more rights")
    try:
        scratch = Scratch(disk, 1 << 20, storage)
        with pytest.raises(LoaderError) as caught, scratch.fetch([make("a", 100_000)]):
            pass
        assert "scratch disk is full" in caught.value.message
        assert list((disk / "files").iterdir()) + list((disk / "partial").iterdir()) == []
        with scratch.fetch([make("b", 1000)]) as (path,):
            assert path.stat().st_size == 1000
        scratch.close()
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_an_entry_of_the_wrong_size_is_fetched_again(
    scratch: Scratch, storage: CountingStorage, make: Callable[..., StoredFile]
) -> None:
    file = make("a")
    with scratch.fetch([file]) as (path,):
        pass
    path.chmod(0o600)
    path.write_bytes(b"")  # as after a crash of the machine
    with scratch.fetch([file]) as (path,):
        assert path.read_bytes() == b"x" * 10
    assert storage.downloads == ["a", "a"]


def test_pins_end_with_the_context_also_after_an_error(
    scratch: Scratch, make: Callable[..., StoredFile]
) -> None:
    with pytest.raises(RuntimeError), scratch.fetch([make("a", 600)]):
        raise RuntimeError
    with scratch.fetch([make("b", 600)]):
        pass


def test_no_descriptor_is_left_open(scratch: Scratch, make: Callable[..., StoredFile]) -> None:
    def use() -> None:
        with scratch.fetch([make("a", 600)]), scratch.job_directory():
            pass
        with scratch.fetch([make("b", 600)]):
            pass

    use()
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(5):
        use()
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def open_descriptors() -> set[int]:
    """The open files of this process that stay open."""
    found = {int(path.name) for path in Path("/proc/self/fd").iterdir()}
    return {number for number in found if Path(f"/proc/self/fd/{number}").exists()}


@contextmanager
def few_descriptors(free: int) -> Iterator[None]:
    """Lets this process open only so many more files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    taken = [os.dup(0)]
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(open_descriptors()) + 1 + free, hard))
    try:
        with suppress(OSError):
            while True:
                taken.append(os.dup(0))
        for _ in range(free):
            os.close(taken.pop())
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for descriptor in taken:
            os.close(descriptor)


def test_no_pin_is_left_when_the_process_has_no_more_descriptors(
    scratch: Scratch, make: Callable[..., StoredFile]
) -> None:
    files = [make(f"f{number}") for number in range(20)]
    with scratch.fetch(files):
        pass
    before = open_descriptors()
    with few_descriptors(5), pytest.raises(OSError) as caught, scratch.fetch(files):
        pass
    assert caught.value.errno == errno.EMFILE
    assert open_descriptors() == before
    with scratch.fetch([make("large", 1000)]):  # evicts all others, for none is pinned
        pass


def test_no_pin_is_left_when_a_download_cannot_be_started(
    scratch: Scratch, make: Callable[..., StoredFile]
) -> None:
    here, missing = make("here"), make("missing")
    with scratch.fetch([here]):
        pass
    before = open_descriptors()
    scratch.close()
    with pytest.raises(RuntimeError), scratch.fetch([here, missing]):
        pass
    assert open_descriptors() == before


def test_a_download_that_nobody_waits_for_any_more_ends_unpinned(
    tmp_path: Path, storage: CountingStorage, make: Callable[..., StoredFile]
) -> None:
    started, go_on = threading.Event(), threading.Event()

    def wait(file: StoredFile, path: Path) -> None:
        started.set()
        go_on.wait(20)

    class Interrupted(list[StoredFile]):
        """Its second reading, the one that pins, ends as by Ctrl-C once the download is under way."""

        read = False

        def __iter__(self) -> Iterator[StoredFile]:
            yield from super().__iter__()
            if self.read:
                started.wait(20)
                raise KeyboardInterrupt
            self.read = True

    before = open_descriptors()
    storage.before = wait
    scratch = Scratch(tmp_path / "scratch", 1000, storage)
    file = make("a")
    with pytest.raises(KeyboardInterrupt), scratch.fetch(Interrupted([file])):
        pass
    go_on.set()
    scratch.close()
    assert storage.downloads == ["a"]
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
    assert kept(tmp_path) == 0


OTHER_PROCESS = """
import sys
from pathlib import Path
from loader.scratch import Scratch
from loader.storage.local import LocalStorage

storage = LocalStorage()
scratch = Scratch(Path(sys.argv[1]), 1000, storage)
with scratch.fetch(storage.list_files(sys.argv[2])), scratch.job_directory():
    print("ready", flush=True)
    sys.stdin.read()
"""


def test_another_process_pins_too_until_it_dies(
    scratch: Scratch, storage: CountingStorage, make: Callable[..., StoredFile], tmp_path: Path
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


def test_the_limit_holds_while_many_threads_use_the_scratch(
    scratch: Scratch, make: Callable[..., StoredFile], tmp_path: Path
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
            largest = max(largest, kept(tmp_path))

    with ThreadPoolExecutor(4) as pool:
        for task in [pool.submit(use, turn) for turn in range(100)]:
            task.result()
    assert 0 < largest <= 1000
    assert kept(tmp_path) <= 1000
