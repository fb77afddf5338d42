"""Locks, claims and removals on the scratch's disk, and its failures in words.

What `loader.intake.scratch` and `loader.intake.scratch_pins` have in common. Knows nothing of profiles or
storages, and decides nothing about what is kept.
"""

from __future__ import annotations

import errno
import fcntl
import logging
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from loader.errors import ErrorCode, LoaderError

_log = logging.getLogger(__name__)
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_NEXT_TO_NOTHING = 1 << 20
_TOO_MANY_OPEN = frozenset({errno.EMFILE, errno.ENFILE})
DISK_FULL = "The scratch disk is full; free space on it, or lower XPROF_HUB_SCRATCH_BYTES."
"""What the operator can do about it, in the sentence that a person reads."""
FULL_SECONDS = 30
"""When to come back then: conversions that end leave room."""
EXHAUSTED = _FULL | _TOO_MANY_OPEN
"""Errors that say nothing of the file at hand, but that this worker is short of something."""


@contextmanager
def disk_errors(name: str | None = None) -> Iterator[None]:
    """Turns the errors of the scratch disk into `LoaderError`.

    Args:
        name: the profile file that is being written, or None.

    Raises:
        LoaderError: WORKER_FULL when the disk is full, BUSY when no more files can be opened now, else
            INTERNAL.
    """
    try:
        yield
    except OSError as error:
        # The operator needs more than the user may see.
        _log.exception("the scratch disk can't be used")
        raise _explained(error, name) from error


def _explained(error: OSError, name: str | None) -> LoaderError:
    """What an error of the disk means to the user; without its path."""
    if error.errno in _TOO_MANY_OPEN:
        sentence = "The worker has as many files open as it may."
        return LoaderError(ErrorCode.BUSY, sentence, name)
    if error.errno in _FULL:
        return disk_full(name)
    reason = errno.errorcode.get(error.errno or 0, "error")
    return LoaderError(ErrorCode.INTERNAL, f"The scratch disk failed ({reason}).", name)


def disk_full(name: str | None = None) -> LoaderError:
    """What is said of a full disk; says nothing of the profile, and another worker's may have room."""
    return LoaderError(ErrorCode.WORKER_FULL, DISK_FULL, name, retry_after=FULL_SECONDS)


def is_full(directory: Path) -> bool:
    """Whether the disk of a directory has next to no space, or no names, left; False when nobody can say."""
    try:
        disk = os.statvfs(directory)
        return free_bytes(directory) < _NEXT_TO_NOTHING or (disk.f_files > 0 and not disk.f_favail)
    except OSError:
        return False


def free_bytes(directory: Path) -> int:
    """What can still be written on the disk of a directory.

    Raises:
        OSError: nobody can say.
    """
    disk = os.statvfs(directory)
    return disk.f_bavail * disk.f_frsize


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Holds a lock file, made if missing, against threads and processes alike."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def try_exclusive(descriptor: int) -> bool:
    """Takes the exclusive lock if nobody holds any."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def claim(path: Path) -> int | None:
    """A new exclusively locked file for a download, or None after waiting for the one who has it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    with ExitStack() as unless_claimed:
        unless_claimed.callback(os.close, descriptor)
        if try_exclusive(descriptor):
            unless_claimed.pop_all()
            return descriptor
        # Shared, so that all who wait go on together when the download has ended.
        fcntl.flock(descriptor, fcntl.LOCK_SH)
    return None


def is_at(descriptor: int, path: Path) -> bool:
    """Whether an open file is still the one at `path`."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat(follow_symlinks=False))
    except FileNotFoundError:
        return False


def touch(file: int | Path) -> None:
    """Notes the use of an entry; by itself the kernel would take a clock of only some ms."""
    now = time.time_ns()
    os.utime(file, ns=(now, now))


def reserve(descriptor: int, size: int) -> None:
    """Gives a file its size, and its blocks where the file system can."""
    try:
        os.posix_fallocate(descriptor, 0, size)
    except OSError as error:
        if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL):
            raise
        os.ftruncate(descriptor, size)


def entries(directory: Path) -> list[tuple[Path, os.stat_result]]:
    """What is in a directory, with its state; what vanishes meanwhile is left out."""
    found = []
    for path in directory.iterdir():
        try:
            found.append((path, path.stat(follow_symlinks=False)))
        except FileNotFoundError:
            continue
    return found


def remove_if_unlocked(path: Path) -> bool:
    """Removes a file that nobody holds; whether it is gone."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return True
    try:
        if not try_exclusive(descriptor):
            return False
        path.unlink(missing_ok=True)
        return True
    finally:
        os.close(descriptor)


def remove_unlocked_trees(directory: Path) -> None:
    """Removes the directories in a directory that nobody holds."""
    for path in directory.iterdir():
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except FileNotFoundError:
            continue  # its owner has just removed it
        except OSError as error:
            _log.warning("could not look at a job directory: %s", error.strerror)
            continue
        try:
            if try_exclusive(descriptor):
                remove_tree(path)
        finally:
            os.close(descriptor)


def remove_tree(path: Path) -> None:
    """Removes a directory, also when a conversion took away its own permissions inside."""
    try:
        shutil.rmtree(path)
    except OSError:
        _restore_access(path)
        shutil.rmtree(path, ignore_errors=True)
    if path.exists():
        _log.warning("could not remove a job directory; the next job tries it again")


def _restore_access(path: Path) -> None:
    """Makes all directories of a tree ours to change again, without following a link out of it."""
    if not path.exists():
        return
    path.chmod(0o700)
    for parent, folders, _ in os.walk(path):
        for folder in (Path(parent, name) for name in folders):
            if not folder.is_symlink():
                folder.chmod(0o700)
