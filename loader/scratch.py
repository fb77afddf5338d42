"""Downloaded profiles on this machine's disk: fetched once, shared, bounded, thrown away when unused.

Several threads and several processes may use one directory at once; the only coordination is `flock`,
which the kernel releases when a process dies, so nothing is ever left locked:

- `files/<key>`     one generation of one file, complete, read-only. A shared lock pins it.
- `partial/<key>`   a download under way, exclusively locked by the one who downloads. Its size is the
                    final size from the start, so that space is counted before it is used.
- `jobs/<random>`   private directories of conversions, exclusively locked by their process.
- `lock`            held for moments while space is counted and entries are published or evicted.

The directory is the only state, hence a restart finds every entry again. The modification time of an
entry is its last use. Nothing here may be the only copy of anything.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import logging
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from pathlib import Path

from loader.errors import ErrorCode, LoaderError
from loader.storage.base import Storage, StoredFile

_log = logging.getLogger(__name__)
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


class Scratch:
    """A cache of downloaded files and a place for conversions.

    Args:
        directory: made if missing; nothing else may write there.
        max_bytes: most bytes of downloaded files, finished and under way, of all processes together.
            What conversions write into their job directories is not counted.
        storage: where files come from.
        parallel_downloads: most downloads at once in this process.
    """

    def __init__(
        self, directory: Path, max_bytes: int, storage: Storage, parallel_downloads: int = 4
    ) -> None:
        self._files = directory / "files"
        self._partial = directory / "partial"
        self._jobs = directory / "jobs"
        self._lock_file = directory / "lock"
        self._max_bytes = max_bytes
        self._storage = storage
        self._pool = ThreadPoolExecutor(parallel_downloads, thread_name_prefix="download")
        # A sandboxed child with another user id must be able to walk to its own job and its hosts'
        # files, but not to list what else is there.
        for path in (directory, self._files, self._partial, self._jobs):
            path.mkdir(mode=0o711, parents=True, exist_ok=True)
        self._remove_leftovers()

    @contextmanager
    def fetch(self, files: Sequence[StoredFile]) -> Iterator[list[Path]]:
        """Local copies of the files, in their order, kept until the context ends.

        The copies are shared and read-only; link to them, never write.

        Raises:
            LoaderError: TOO_LARGE when they can never fit, BUSY when they don't fit beside what is in
                use now, INTERNAL when the disk is full, and the storage's errors.
        """
        total = sum({_key(file): file.size for file in files}.values())
        if total > self._max_bytes:
            raise LoaderError(
                ErrorCode.TOO_LARGE,
                f"The chosen profiles have {_size(total)} together and this installation keeps at most "
                f"{_size(self._max_bytes)}; choose fewer hosts, or raise XPROF_HUB_SCRATCH_BYTES.",
            )
        with ExitStack() as pins:
            for descriptor in self._pin_all(files):
                pins.callback(os.close, descriptor)
            yield [self._files / _key(file) for file in files]

    @contextmanager
    def job_directory(self) -> Iterator[Path]:
        """A new private directory (mode 0700), removed with all it holds when the context ends."""
        with self._locked():
            path = Path(tempfile.mkdtemp(dir=self._jobs))
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        try:
            yield path
        finally:
            _remove_tree(path)
            os.close(descriptor)

    def close(self) -> None:
        """Ends the download threads after the downloads under way."""
        self._pool.shutdown()

    def _pin_all(self, files: Sequence[StoredFile]) -> list[int]:
        """Pins every file, downloading what is missing; all or none."""
        tasks: list[Future[int]] = []
        try:
            for file in files:
                if (pin := self._pin(file)) is None:
                    tasks.append(self._pool.submit(self._download, file))
                else:
                    tasks.append(_done(pin))
            wait(tasks)
            return [task.result() for task in tasks]
        except BaseException:
            for task in tasks:
                task.cancel()
                task.add_done_callback(_unpin)  # at once, or when its download has ended
            raise

    def _pin(self, file: StoredFile) -> int | None:
        """A descriptor with a shared lock on a complete entry, or None when there is no such entry."""
        path = self._files / _key(file)
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        except FileNotFoundError:
            return None
        with ExitStack() as unless_pinned:
            unless_pinned.callback(os.close, descriptor)
            # An evictor holds the exclusive lock only while it removes the entry.
            fcntl.flock(descriptor, fcntl.LOCK_SH)
            status = os.fstat(descriptor)
            if status.st_nlink and status.st_size == file.size and _is_at(descriptor, path):
                _touch(descriptor)
                unless_pinned.pop_all()
                return descriptor
        return None

    def _download(self, file: StoredFile) -> int:
        """Downloads a file unless another thread or process just did; gives its pin."""
        path = self._partial / _key(file)
        while True:
            if (pin := self._pin(file)) is not None:
                return pin
            if (partial := _claim(path)) is None:
                continue  # somebody else's download has ended, one way or the other
            published = False
            try:
                if _is_at(partial, path) and not self._has(file):
                    self._fill(file, partial, path)
                    self._publish(partial, path)
                    published = True
                    return partial
            finally:
                if not published:
                    self._discard(partial, path)

    def _has(self, file: StoredFile) -> bool:
        """Whether a complete entry is there now."""
        if (pin := self._pin(file)) is None:
            return False
        os.close(pin)
        return True

    def _fill(self, file: StoredFile, partial: int, path: Path) -> None:
        """Reserves the space and downloads into it."""
        try:
            with self._locked():
                self._make_room(file)
                if file.size:
                    _reserve(partial, file.size)
            self._storage.download(file, path)
        except OSError as error:
            if error.errno in _FULL:
                raise LoaderError(
                    ErrorCode.INTERNAL,
                    "The scratch disk is full; free space on it, or lower XPROF_HUB_SCRATCH_BYTES.",
                    file.name,
                ) from error
            raise LoaderError(
                ErrorCode.INTERNAL,
                f"The scratch disk failed ({errno.errorcode.get(error.errno or 0, 'error')}).",
                file.name,
            ) from error

    def _publish(self, partial: int, path: Path) -> None:
        """Makes a finished download an entry; its exclusive lock becomes a pin."""
        with self._locked():  # no evictor can come between the exclusive and the shared lock
            os.fchmod(partial, 0o444)
            _touch(partial)
            path.rename(self._files / path.name)
            fcntl.flock(partial, fcntl.LOCK_SH)

    def _discard(self, partial: int, path: Path) -> None:
        """Removes an unfinished download, if it is still the one at its place, and lets go of it."""
        try:
            if _is_at(partial, path):
                path.unlink()
        finally:
            os.close(partial)

    def _make_room(self, file: StoredFile) -> None:
        """Evicts entries, the longest unused first, until the file fits. The lock must be held."""
        _remove_unlocked(self._partial)
        under_way = sum(status.st_size for _, status in _entries(self._partial))
        entries = sorted(_entries(self._files), key=lambda entry: entry[1].st_mtime_ns)
        excess = under_way + sum(s.st_size for _, s in entries) + file.size - self._max_bytes
        for path, status in entries:
            if excess <= 0:
                return
            if _remove_if_unlocked(path):
                excess -= status.st_size
        if excess > 0:
            raise LoaderError(
                ErrorCode.BUSY,
                f"The scratch of {_size(self._max_bytes)} is in use by other conversions; "
                f"{_size(excess)} are missing for this profile. Try again in a minute.",
                file.name,
            )

    def _remove_leftovers(self) -> None:
        """Removes what dead processes left: unfinished downloads and job directories."""
        with self._locked():
            _remove_unlocked(self._partial)
            for path, _ in _entries(self._jobs):
                descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
                try:
                    if _try_exclusive(descriptor):
                        _remove_tree(path)
                finally:
                    os.close(descriptor)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Holds the directory's lock, against threads and processes alike."""
        descriptor = os.open(self._lock_file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


def _key(file: StoredFile) -> str:
    """Name of an entry: says nothing about the file and is safe whatever the file is called."""
    identity = json.dumps([file.location, file.generation, file.size])
    return hashlib.sha256(identity.encode()).hexdigest()


def _done(pin: int) -> Future[int]:
    """A finished task, so that hits and downloads are collected the same way."""
    task: Future[int] = Future()
    task.set_result(pin)
    return task


def _unpin(task: Future[int]) -> None:
    """Lets go of the pin that a finished task holds, if it holds one."""
    if not task.cancelled() and task.exception() is None:
        os.close(task.result())


def _claim(path: Path) -> int | None:
    """A new exclusively locked file for a download, or None after waiting for the one who has it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    with ExitStack() as unless_claimed:
        unless_claimed.callback(os.close, descriptor)
        if _try_exclusive(descriptor):
            unless_claimed.pop_all()
            return descriptor
        # A shared lock comes as soon as the download fails or becomes a pinned entry; an exclusive one
        # would wait until nobody uses that entry any more.
        fcntl.flock(descriptor, fcntl.LOCK_SH)
    return None


def _touch(descriptor: int) -> None:
    """Notes the use of an entry; by itself the kernel would take a clock of only some ms."""
    now = time.time_ns()
    os.utime(descriptor, ns=(now, now))


def _is_at(descriptor: int, path: Path) -> bool:
    """Whether an open file is still the one at `path`."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat(follow_symlinks=False))
    except FileNotFoundError:
        return False


def _reserve(descriptor: int, size: int) -> None:
    """Gives a file its size, and its blocks where the file system can."""
    try:
        os.posix_fallocate(descriptor, 0, size)
    except OSError as error:
        if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL):
            raise
        os.ftruncate(descriptor, size)


def _entries(directory: Path) -> list[tuple[Path, os.stat_result]]:
    """What is in a directory, with its state; what vanishes meanwhile is left out."""
    found = []
    for path in directory.iterdir():
        try:
            found.append((path, path.stat(follow_symlinks=False)))
        except FileNotFoundError:
            continue
    return found


def _try_exclusive(descriptor: int) -> bool:
    """Takes the exclusive lock if nobody holds any."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _remove_if_unlocked(path: Path) -> bool:
    """Removes a file that nobody uses; whether it is gone."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return True
    try:
        if not _try_exclusive(descriptor):
            return False
        path.unlink(missing_ok=True)
        return True
    finally:
        os.close(descriptor)


def _remove_unlocked(directory: Path) -> None:
    """Removes all files of a directory that nobody uses."""
    for path, _ in _entries(directory):
        _remove_if_unlocked(path)


def _remove_tree(path: Path) -> None:
    """Removes a directory, also when a conversion took away its own permissions inside."""
    try:
        shutil.rmtree(path)
    except OSError:
        _restore_access(path)
        shutil.rmtree(path, ignore_errors=True)
    if path.exists():
        _log.warning("could not remove a job directory; it is tried again at the next start")


def _restore_access(path: Path) -> None:
    """Makes all directories of a tree ours to change again, without following a link out of it."""
    path.chmod(0o700)
    for parent, folders, _ in os.walk(path):
        for folder in (Path(parent, name) for name in folders):
            if not folder.is_symlink():
                folder.chmod(0o700)


def _size(number: int) -> str:
    """Bytes for a person."""
    value, units = float(number), ["bytes", "KiB", "MiB", "GiB", "TiB"]
    while value >= 1024 and len(units) > 1:
        value, units = value / 1024, units[1:]
    return f"{value:.0f} {units[0]}" if units[0] == "bytes" else f"{value:.1f} {units[0]}"
