"""What the tests of the scratch share: source files, a storage that counts, and views of what is left."""

from __future__ import annotations

import fcntl
import os
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from loader.storage.base import StoredFile, ignore
from loader.storage.local import LocalStorage


class CountingStorage(LocalStorage):
    """Real local storage that counts downloads and can be made to wait or fail in the middle."""

    def __init__(self) -> None:
        self.downloads: list[str] = []
        self.before: Callable[[StoredFile, Path], None] = lambda file, path: None

    def download(
        self, file: StoredFile, destination: Path, wrote: Callable[[int], None] = ignore
    ) -> None:
        self.downloads.append(file.name)
        self.before(file, destination)
        super().download(file, destination, wrote)


class Sources:
    """Makes source files in a folder and lists them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir()

    def __call__(self, name: str, size: int = 10, fill: bytes = b"x") -> StoredFile:
        path = self._folder / name
        path.write_bytes(fill * size)
        return LocalStorage().list_files(str(path))[0]


def kept(scratch: Path) -> int:
    """Bytes on disk in a scratch's downloads, finished and under way, while none of them starts."""
    with (scratch / "lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        total = 0
        for path in [*(scratch / "partial").iterdir(), *(scratch / "files").iterdir()]:
            with suppress(FileNotFoundError):  # it has ended since
                total += path.stat().st_size
        return total


def left_behind(scratch: Path) -> list[Path]:
    """What only somebody who is at work may have in a scratch."""
    return [path for part in ("partial", "pins", "jobs") for path in (scratch / part).iterdir()]


def open_descriptors() -> set[int]:
    """The files and folders that this process has open and that stay so.

    Connections and pipes don't count: those of other tests' servers, and what Python has yet to throw away,
    may be closed at any time.
    """
    return {number for number in _descriptors() if _target(number).startswith("/")}


def _descriptors() -> set[int]:
    return {int(path.name) for path in Path("/proc/self/fd").iterdir()}


def _target(number: int) -> str:
    try:
        return str(Path(f"/proc/self/fd/{number}").readlink())
    except FileNotFoundError:  # what the descriptors were listed with
        return ""


@contextmanager
def few_descriptors(free: int) -> Iterator[None]:
    """Lets this process open only so many more files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    taken = [os.dup(0)]
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(_descriptors()) + 1 + free, hard))
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
