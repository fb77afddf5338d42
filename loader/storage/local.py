"""Profiles in directories of this machine.

Reads only. Which directories may be read is not decided here: `loader.storage.roots` wraps this class and
is what the product hands out.
"""

from __future__ import annotations

import errno
import os
import stat
from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from loader.errors import ErrorCode, LoaderError
from loader.storage.address import shown
from loader.storage.base import PAGE_ENTRIES, FolderPage, StoredFile, ignore
from loader.storage.destination import open_destination, write_at

_COPY_BYTES = 4 << 20
_MISSING = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP})
_FORBIDDEN = frozenset({errno.EACCES, errno.EPERM})


class LocalStorage:
    """Storage in directories. Locations are absolute paths."""

    def list_files(self, location: str) -> list[StoredFile]:
        """The regular files directly in a directory, sorted by name, or the one file at `location`.

        Files whose names are not valid UTF-8 are left out: no link could name them.

        Raises:
            LoaderError: NOT_FOUND, PERMISSION_DENIED or STORAGE_UNAVAILABLE.
        """
        with _reading(location):
            here = Path(location).stat()
            if stat.S_ISREG(here.st_mode):
                return [_stored_file(location, here)]
            files = [
                _stored_file(entry.path, status)
                for entry in _entries(location)
                if (status := _status(entry)) is not None
            ]
        return sorted(files, key=lambda file: file.name)

    def list_folders(self, location: str) -> list[str]:
        """Paths of the directories directly in a directory, sorted.

        Raises:
            LoaderError: NOT_FOUND, PERMISSION_DENIED or STORAGE_UNAVAILABLE.
        """
        with _reading(location):
            return sorted(entry.path for entry in _entries(location) if _is_folder(entry))

    def list_folder_page(
        self, location: str, after: str = "", most: int = PAGE_ENTRIES
    ) -> FolderPage:
        """Some of the directories directly in a directory; see `Storage.list_folder_page`.

        Raises:
            LoaderError: NOT_FOUND, PERMISSION_DENIED or STORAGE_UNAVAILABLE.
        """
        with _reading(location):
            # A slash at the end, because a bucket sorts its folders with it.
            names = sorted(f"{e.name}/" for e in _entries(location) if _is_folder(e))
        left = names[bisect_right(names, after) :]
        page = left[:most]
        folders = tuple(f"{location.rstrip('/')}/{name[:-1]}" for name in page)
        return FolderPage(folders, page[-1] if len(left) > most else "")

    def download(
        self, file: StoredFile, destination: Path, wrote: Callable[[int], None] = ignore
    ) -> None:
        """Copies exactly this generation; a symbolic link in the last place is not followed.

        Raises:
            LoaderError: SOURCE_CHANGED when the file was replaced, also while it was copied,
                PERMISSION_DENIED or STORAGE_UNAVAILABLE.
            OSError: when `destination` can't be written.
        """
        source = _open(file)
        try:
            _require_same(file, source)
            with open_destination(destination, file.size) as target:
                _copy(file, source, target, wrote)
            _require_same(file, source)
        finally:
            os.close(source)

    def read_part(self, file: StoredFile, start: int, length: int) -> bytes:
        """Some bytes of exactly this generation; see `Storage.read_part`.

        Raises:
            LoaderError: as `download`.
        """
        source = _open(file)
        try:
            with _reading(file.location, copied=file.name):
                block = _read_at(source, start, length)
            _require_same(file, source)
        finally:
            os.close(source)
        if len(block) != length:
            raise _changed(file.name)
        return block


def _open(file: StoredFile) -> int:
    """A descriptor of what lies at the file's place, which may be another generation by now."""
    with _reading(file.location, copied=file.name):
        # NONBLOCK: opening a FIFO that took the file's place must not wait for a writer.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
        return os.open(file.location, flags)


def _read_at(source: int, start: int, length: int) -> bytes:
    """The bytes from there, fewer where the file ends before."""
    parts: list[bytes] = []
    while length and (block := os.pread(source, length, start)):
        parts.append(block)
        start, length = start + len(block), length - len(block)
    return b"".join(parts)


def _entries(location: str) -> Iterator[os.DirEntry[str]]:
    """Entries of a directory whose names are text."""
    with os.scandir(location.rstrip("/") or "/") as entries:
        yield from (entry for entry in entries if _is_text(entry.name))


def _status(entry: os.DirEntry[str]) -> os.stat_result | None:
    """What a regular file (or a link to one) is now; None for anything else."""
    try:
        status = entry.stat()
    except FileNotFoundError:  # removed since the directory was read, or a link to nothing
        return None
    except OSError:
        _require_bad_link(entry)
        return None
    return status if stat.S_ISREG(status.st_mode) else None


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """Whether it is a directory, or a link to one."""
    try:
        return entry.is_dir()
    except OSError:
        _require_bad_link(entry)
        return False


def _require_bad_link(entry: os.DirEntry[str]) -> None:
    """Raises OSError unless it is only what the entry links to that can't be read.

    A link in circles, or to a place that we may not see, must not hide its neighbours; that nothing in a
    directory can be read must be said.
    """
    entry.stat(follow_symlinks=False)


def _is_text(name: str) -> bool:
    """Whether a file name is valid UTF-8 (Python keeps other bytes as lone surrogates)."""
    return not any("\ud800" <= character <= "\udfff" for character in name)


def _stored_file(path: str, status: os.stat_result) -> StoredFile:
    """Describes a regular file as it is now."""
    generation = _generation(status)
    return StoredFile(path, Path(path).name, status.st_size, generation, status.st_mtime)


def _generation(status: os.stat_result) -> str:
    """Changes when the file is written or replaced.

    Whoever writes can set the time of modification back, as `cp -p` does; that of the last change he can't.
    """
    return f"{status.st_mtime_ns}-{status.st_ctime_ns}-{status.st_ino}-{status.st_size}"


def _require_same(file: StoredFile, descriptor: int) -> None:
    """Raises SOURCE_CHANGED unless the open file is the one that was listed."""
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or _generation(status) != file.generation:
        raise _changed(file.name)


def _copy(file: StoredFile, source: int, target: int, wrote: Callable[[int], None]) -> None:
    """Copies `file.size` bytes between two open files."""
    offset = 0
    while offset < file.size:
        with _reading(file.location, copied=file.name):
            block = os.pread(source, min(_COPY_BYTES, file.size - offset), offset)
        if not block:
            raise _changed(file.name)
        write_at(target, block, offset)
        offset += len(block)
        wrote(len(block))


def _changed(name: str) -> LoaderError:
    """The error for a file that is no longer what was listed."""
    return LoaderError(
        ErrorCode.SOURCE_CHANGED,
        f"{shown(name)} was replaced or removed while it was read; reload to see its new state.",
        name,
    )


@contextmanager
def _reading(location: str, *, copied: str | None = None) -> Iterator[None]:
    """Turns the errors of reading into `LoaderError`.

    Args:
        location: what is read, named in messages as the caller wrote it.
        copied: name of the file whose listed generation is read; a missing file has then changed.
    """
    subject = shown(copied or location)
    try:
        yield
    except OSError as error:
        if error.errno in _MISSING:
            if copied is not None:
                raise _changed(copied) from error
            raise LoaderError(
                ErrorCode.NOT_FOUND,
                f"There is no file or folder {subject}; check the spelling, and that the disk is mounted.",
            ) from error
        if error.errno in _FORBIDDEN:
            raise LoaderError(
                ErrorCode.PERMISSION_DENIED,
                f"XProf Hub may not read {subject}; give the user that it runs as read access.",
                copied,
            ) from error
        raise LoaderError(
            ErrorCode.STORAGE_UNAVAILABLE,
            f"The disk could not read {subject} ({errno.errorcode.get(error.errno or 0, 'error')}); "
            "try again, and check the disk if it happens again.",
            copied,
        ) from error
