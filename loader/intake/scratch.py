"""Downloaded profiles on this machine's disk: fetched once, shared, bounded, thrown away when unused.

Several threads and several processes may use one directory at once; the only coordination is `flock`,
which the kernel releases when a process dies, so nothing is ever left locked:

- `files/<key>`     one generation of one file, complete, read-only.
- `partial/<key>`   a download under way, exclusively locked by the one who downloads.
- `pins/<random>`   the keys and sizes of all files of one fetch, exclusively locked by their process. They
                    are never evicted, and count before they are downloaded.
- `jobs/<random>`   private directories of conversions, exclusively locked by their process.
- `lock`            held for moments while files are pinned, space is counted and entries are evicted.

A fetch looks at the directory once, however many files it has. The directory is the only state, hence a
restart finds every entry again. The modification time of an entry is its last use. Nothing here may be the
only copy of anything.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import tempfile
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from pathlib import Path

from loader.disk import (
    claim,
    disk_errors,
    entries,
    free_bytes,
    is_at,
    is_full,
    locked,
    remove_if_unlocked,
    remove_tree,
    remove_unlocked_trees,
    reserve,
    touch,
)
from loader.errors import ErrorCode, LoaderError
from loader.inspection.refusals import too_large
from loader.intake.scratch_pins import Pin, Pins
from loader.storage.base import Storage, StoredFile, ignore
from loader.traces import in_same_trace

MOST_FILES = 4096
"""Most files of one fetch, one for each host: bounds the lists that every fetch writes and reads."""
_SPARE_BYTES = 64 << 20
"""What is left free on the disk, by evicting, for what conversions write."""


class Scratch:
    """A cache of downloaded files and a place for conversions.

    Args:
        directory: made if missing; nothing else may write there.
        max_bytes: most bytes of downloaded files, finished and under way, of all processes together.
            Of what lies in job directories only what `hold` is told is counted; nor are the lists of pins.
        storage: where files come from.
        parallel_downloads: most downloads at once in this process.
        give_way: asks what else lies on this disk, and can be had again, for so many bytes.
    """

    def __init__(
        self,
        directory: Path,
        max_bytes: int,
        storage: Storage,
        parallel_downloads: int = 4,
        give_way: Callable[[int], None] = ignore,
    ) -> None:
        self._files = directory / "files"
        self._partial = directory / "partial"
        self._jobs = directory / "jobs"
        self._lock = directory / "lock"
        self._max_bytes = max_bytes
        self._storage = storage
        self._give_way = give_way
        self._pool = ThreadPoolExecutor(parallel_downloads, thread_name_prefix="download")
        # A sandboxed child with another user id must be able to walk to its own job and its hosts'
        # files, but not to list what else is there.
        for path in (directory, self._files, self._partial, self._jobs):
            path.mkdir(mode=0o711, parents=True, exist_ok=True)
        self._pins = Pins(directory / "pins")
        self._held: dict[Path, tuple[int, Pin | None]] = {}
        with locked(self._lock):
            self._remove_dead_downloads()
            remove_unlocked_trees(self._jobs)

    @contextmanager
    def fetch(
        self,
        files: Sequence[StoredFile],
        wrote: Callable[[int], None] = ignore,
        moved: Callable[[int], None] = ignore,
    ) -> Iterator[list[Path]]:
        """Local copies of the files, in their order, kept until the context ends.

        The copies are shared and read-only; link to them, never write. An empty file is made here.

        Args:
            files: what to fetch.
            wrote: told of every so many bytes that are there, from any thread; what it raises ends the fetch.
            moved: told of the bytes of each file that was downloaded for this fetch.

        Raises:
            LoaderError: TOO_LARGE when they are too many or can never fit, BUSY when they don't fit
                beside what is in use now or no more files can be opened, WORKER_FULL when the disk is,
                INTERNAL when it fails, and the storage's errors.
        """
        if len(files) > MOST_FILES:
            raise LoaderError(
                ErrorCode.TOO_LARGE,
                f"{len(files):,} hosts are chosen and a conversion reads at most {MOST_FILES:,}; "
                "choose fewer hosts.",
            )
        keys = [_key(file) for file in files]
        wanted = dict(zip(keys, files, strict=True))
        total = sum(file.size for file in wanted.values())
        if total > self._max_bytes:
            raise LoaderError(
                ErrorCode.TOO_LARGE,
                f"The chosen profiles have {_size(total)} together and this installation keeps at most "
                f"{_size(self._max_bytes)}; choose fewer hosts, or raise XPROF_HUB_SCRATCH_BYTES.",
            )
        pin = self._obtain(wanted, wrote, moved)
        try:
            yield [self._files / key for key in keys]
        finally:
            pin.release()

    @contextmanager
    def job_directory(self) -> Iterator[Path]:
        """A new private directory (mode 0700), removed with all it holds when the context ends.

        Raises:
            LoaderError: BUSY when no more files can be opened, WORKER_FULL when the disk is, INTERNAL when it
                fails.
        """
        with disk_errors(), locked(self._lock):
            remove_unlocked_trees(self._jobs)
            if is_full(self._jobs):
                self._make_room([])
            path, descriptor = self._make_job()
        try:
            yield path
        finally:
            try:
                remove_tree(path)
            finally:
                os.close(descriptor)
                _, pin = self._held.pop(path, (0, None))
                if pin is not None:
                    pin.release()

    def hold(self, directory: Path, size: int) -> None:
        """Counts so many more bytes that lie in a job directory, until that is removed.

        Args:
            directory: of a job of this process, used by one thread.
            size: what became of a compressed profile, say; evicts unused files to make up for it.

        Raises:
            LoaderError: TOO_LARGE when they can never fit, BUSY when they don't beside what is in use now,
                WORKER_FULL when the disk is, INTERNAL when it fails.
        """
        held, pin = self._held.get(directory, (0, None))
        total = held + size
        if total > self._max_bytes:
            raise too_large(
                f"unpacked, it is more than the {_size(self._max_bytes)} of disk that profiles may take",
                "XPROF_HUB_SCRATCH_BYTES",
            )
        with disk_errors(), locked(self._lock):
            self._held.pop(directory, None)
            if pin is not None:
                pin.release()
            self._held[directory] = total, self._pins.add({directory.name: total})
            self._make_room([])

    def has_room(self) -> bool:
        """Whether a conversion can begin: there is space, or would be without what nobody uses.

        Removes nothing: the next conversion will.
        """
        if not is_full(self._files):
            return True
        try:
            with locked(self._lock):
                return bool(self._unused())
        except OSError:
            return False

    def close(self) -> None:
        """Ends the download threads after the downloads under way."""
        self._pool.shutdown()

    def _make_job(self) -> tuple[Path, int]:
        """A new directory and the descriptor that holds its lock; both or nothing."""
        path = Path(tempfile.mkdtemp(dir=self._jobs))
        with ExitStack() as unless_made:
            unless_made.callback(path.rmdir)
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            unless_made.callback(os.close, descriptor)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            unless_made.pop_all()
        return path, descriptor

    def _obtain(
        self,
        wanted: Mapping[str, StoredFile],
        wrote: Callable[[int], None],
        moved: Callable[[int], None],
    ) -> Pin:
        """Pins the files and downloads what is missing; all or none."""
        with disk_errors():
            pin, missing = self._pin(wanted)
        tasks: list[Future[None]] = []
        try:
            wrote(sum(file.size for key, file in wanted.items() if key not in missing))
            for key in missing:
                download = in_same_trace(self._download)
                tasks.append(self._pool.submit(download, key, wanted[key], wrote, moved))
            wait(tasks)
            for task in tasks:
                task.result()
        except BaseException:
            for task in tasks:
                task.cancel()
            _after(tasks, pin.release)  # what is still being written counts until it ends
            raise
        return pin

    def _pin(self, wanted: Mapping[str, StoredFile]) -> tuple[Pin, list[str]]:
        """Pins the files and makes room for all that are missing; gives their keys too."""
        with locked(self._lock), ExitStack() as unless_pinned:
            pin = self._pins.add({key: file.size for key, file in wanted.items()})
            unless_pinned.callback(pin.release)
            missing = [key for key, file in wanted.items() if not self._use(key, file.size)]
            if missing:
                self._make_room([wanted[key] for key in missing])
            unless_pinned.pop_all()
        return pin, missing

    def _use(self, key: str, size: int) -> bool:
        """Notes the use of a complete entry, if there is one; throws away a broken one."""
        path = self._files / key
        try:
            found = path.stat(follow_symlinks=False).st_size
        except FileNotFoundError:
            return False  # Nothing is removed: a download may make it an entry at this moment.
        if found == size:
            touch(path)
            return True
        path.unlink(missing_ok=True)
        return False

    def _has(self, key: str, size: int) -> bool:
        """Whether a complete entry is there now."""
        try:
            return (self._files / key).stat(follow_symlinks=False).st_size == size
        except FileNotFoundError:
            return False

    def _download(
        self,
        key: str,
        file: StoredFile,
        wrote: Callable[[int], None],
        moved: Callable[[int], None],
    ) -> None:
        """Downloads a pinned file unless another thread or process just did."""
        path = self._partial / key
        is_mine = False
        with disk_errors(file.name):
            while not self._has(key, file.size):
                if (partial := claim(path)) is None:
                    continue  # somebody else's download has ended, one way or the other
                try:
                    if is_at(partial, path) and not self._has(key, file.size):
                        is_mine = True
                        self._fill(file, partial, path, wrote)
                finally:
                    # Unless it is an entry now: a failed download, or one that was not needed after all.
                    try:
                        if is_at(partial, path):
                            path.unlink()
                    finally:
                        os.close(partial)

        if is_mine:
            moved(file.size)
        else:
            wrote(file.size)

    def _fill(
        self, file: StoredFile, partial: int, path: Path, wrote: Callable[[int], None]
    ) -> None:
        """Downloads into a claimed file and makes it an entry."""
        if file.size:
            reserve(partial, file.size)
            self._storage.download(file, path, wrote)
        os.fchmod(partial, 0o444)
        touch(partial)
        path.rename(self._files / path.name)

    def _make_room(self, missing: Sequence[StoredFile]) -> None:
        """Evicts unused entries, the longest unused first, until all that is pinned fits beside the rest.

        Others may fill the disk, or it may be smaller than was said: then it decides. The lock must be held.
        """
        self._remove_dead_downloads()
        pinned = self._pins.sizes()
        unused = self._unused(pinned)
        needed = sum(pinned.values()) - self._max_bytes
        if needed > 0:
            raise LoaderError(
                ErrorCode.BUSY,
                f"The scratch of {_size(self._max_bytes)} is in use by other conversions; "
                f"{_size(needed)} are missing for this one.",
                missing[0].name if len(missing) == 1 else None,
            )
        excess = max(
            needed + sum(status.st_size for _, status in unused),
            sum(file.size for file in missing) + _SPARE_BYTES - free_bytes(self._files),
        )
        for path, status in sorted(unused, key=lambda entry: entry[1].st_mtime_ns):
            if excess <= 0:
                return
            path.unlink(missing_ok=True)
            excess -= status.st_size
        if excess > 0:
            self._give_way(excess)

    def _unused(self, pinned: Collection[str] | None = None) -> list[tuple[Path, os.stat_result]]:
        """Entries that nobody has pinned. The lock must be held."""
        used = self._pins.sizes() if pinned is None else pinned
        return [entry for entry in entries(self._files) if entry[0].name not in used]

    def _remove_dead_downloads(self) -> None:
        """Removes the unfinished downloads of dead processes."""
        for path in self._partial.iterdir():
            remove_if_unlocked(path)


def _key(file: StoredFile) -> str:
    """Name of an entry: says nothing about the file and is safe whatever the file is called."""
    identity = json.dumps([file.location, file.generation, file.size])
    return hashlib.sha256(identity.encode()).hexdigest()


def _after(tasks: Sequence[Future[None]], release: Callable[[], None]) -> None:
    """Calls `release` when the last task has ended: now, or in that task's thread."""
    lock, running = threading.Lock(), set(tasks)

    def ended(task: Future[None]) -> None:
        with lock:
            running.discard(task)
            if running:
                return
        release()

    if not tasks:
        release()
    for task in tasks:
        task.add_done_callback(ended)


def _size(number: int) -> str:
    """Bytes for a person."""
    value, units = float(number), ["bytes", "KiB", "MiB", "GiB", "TiB"]
    while value >= 1024 and len(units) > 1:
        value, units = value / 1024, units[1:]
    return f"{value:.0f} {units[0]}" if units[0] == "bytes" else f"{value:.1f} {units[0]}"
