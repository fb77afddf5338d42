"""Uploads into a directory: written beside their place, flushed to the disk, then linked into it.

Several processes may write into one directory, also over a network file system that knows hard links and
locks. Which directory that is, is decided in `loader.storage.writing`.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from loader.errors import ErrorCode, LoaderError
from loader.storage.base import StoredFile
from loader.storage.destination import write_at
from loader.storage.local import LocalStorage
from loader.storage.writing import BLOCK_BYTES, AlreadyThereError, require_below

_DRAFT_PREFIX = ".draft-"
_TRIES = 5
"""How often a folder is made that another process removes because it is empty."""
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_FORBIDDEN = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})


class LocalWriter:
    """A `FileWriter` below a directory, which is made if it is not there.

    Args:
        root: absolute, with links resolved.

    Raises:
        OSError: it can't be made.
    """

    def __init__(self, root: str) -> None:
        Path(root).mkdir(parents=True, exist_ok=True, mode=0o700)
        self.root = root
        self._files = LocalStorage()

    def begin(self, location: str) -> LocalDraft:
        """A new file, under a name of its own until it is finished.

        Raises:
            LoaderError: PERMISSION_DENIED, STORAGE_FULL or STORAGE_UNAVAILABLE.
        """
        path = Path(require_below(self.root, location))
        with _writing():
            return LocalDraft(path)

    def join(self, parts: Sequence[StoredFile], location: str) -> StoredFile:
        """Copies the parts behind one another.

        Raises:
            AlreadyThereError: there is a file.
            LoaderError: SOURCE_CHANGED, PERMISSION_DENIED, STORAGE_FULL or STORAGE_UNAVAILABLE.
        """
        if len(parts) == 1:
            return parts[0]
        draft = self.begin(location)
        try:
            for part in parts:
                self.read(part, draft.write)
            return draft.finish()
        finally:
            draft.discard()

    def read(self, file: StoredFile, take: Callable[[bytes], None]) -> None:
        """Reads a file of which nobody changes the content once it is there.

        Raises:
            LoaderError: SOURCE_CHANGED or STORAGE_UNAVAILABLE.
        """
        path = Path(require_below(self.root, file.location))
        try:
            with path.open("rb") as source:
                if self._now(file.location) != file:
                    raise _changed(file)
                while block := source.read(BLOCK_BYTES):
                    take(block)
        except FileNotFoundError as error:
            raise _changed(file) from error

    def publish(self, draft: StoredFile, location: str, replaces: str | None = None) -> StoredFile:
        """Links the draft into its place, or puts it in the place of the file that is there.

        Raises:
            AlreadyThereError: what is there is not what was expected.
            LoaderError: PERMISSION_DENIED, STORAGE_FULL or STORAGE_UNAVAILABLE.
        """
        target = Path(require_below(self.root, location))
        source = require_below(self.root, draft.location)
        with _writing():
            target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with _locked(target.parent):
                if replaces is None:
                    _link(source, target)
                    Path(source).unlink()
                else:
                    current = self._now(location)
                    if current is None or current.generation != replaces:
                        raise AlreadyThereError
                    Path(source).replace(target)
                _flush_folder(target.parent)
                placed = self._now(location)
            with suppress(OSError):  # other files are in it
                Path(source).parent.rmdir()
        if placed is None:
            raise AlreadyThereError  # removed by a person's hand in this moment
        return placed

    def remove(self, file: StoredFile) -> bool:
        """Removes this generation, and its folder if that is empty then.

        Raises:
            LoaderError: PERMISSION_DENIED or STORAGE_UNAVAILABLE.
        """
        path = Path(require_below(self.root, file.location))
        with _writing():
            try:
                with _locked(path.parent):
                    if self._now(file.location) != file:
                        return False
                    path.unlink()
                    _flush_folder(path.parent)
            except FileNotFoundError:
                return False
            with suppress(OSError):  # other files are in it, or another process was faster
                path.parent.rmdir()
            return True

    def remove_idle(self, folder: str, before: float) -> int:
        """Removes directories in which nothing was written since a moment, drafts among their files.

        Raises:
            LoaderError: PERMISSION_DENIED or STORAGE_UNAVAILABLE.
        """
        parent = Path(require_below(self.root, folder))
        removed = 0
        with _writing():
            if not parent.is_dir():
                return 0
            for entry in _entries(parent):
                if entry.is_dir(follow_symlinks=False):
                    with suppress(FileNotFoundError):  # another process removes it at this moment
                        removed += _remove_if_idle(entry, before)
        return removed

    def _now(self, location: str) -> StoredFile | None:
        """The file that is there now."""
        try:
            return self._files.list_files(location)[0]
        except LoaderError as error:
            if error.code is ErrorCode.NOT_FOUND:
                return None
            raise


class LocalDraft:
    """A file under a name of its own beside its later place."""

    def __init__(self, location: Path) -> None:
        self._location = location
        self._draft = location.with_name(f"{_DRAFT_PREFIX}{uuid4().hex}")
        self._offset = 0
        self._descriptor = _create(self._draft)
        self._is_open = True

    def write(self, block: bytes) -> None:
        """Appends a block.

        Raises:
            LoaderError: PERMISSION_DENIED, STORAGE_FULL or STORAGE_UNAVAILABLE.
        """
        with _writing():
            write_at(self._descriptor, block, self._offset)
        self._offset += len(block)

    def finish(self) -> StoredFile:
        """Flushes it to the disk and links it into its place.

        Raises:
            AlreadyThereError: there is a file.
            LoaderError: STORAGE_FULL or STORAGE_UNAVAILABLE.
        """
        with _writing():
            os.fsync(self._descriptor)
            _link(str(self._draft), self._location)
            self.discard()
            _flush_folder(self._location.parent)
        return LocalStorage().list_files(str(self._location))[0]

    def discard(self) -> None:
        """Removes the draft's own name."""
        if self._is_open:
            self._is_open = False
            os.close(self._descriptor)
            self._draft.unlink(missing_ok=True)


def _create(path: Path) -> int:
    """A new file in a folder that another process may remove as long as it is empty."""
    for _ in range(_TRIES):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with suppress(FileNotFoundError):
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
            return os.open(path, flags, 0o600)
    raise OSError(errno.EAGAIN, "the folder is removed again and again")


def _link(source: str, target: Path) -> None:
    """Gives a file a second name, where no file may be: atomic, also between machines."""
    try:
        os.link(source, target, follow_symlinks=False)
    except FileExistsError as error:
        raise AlreadyThereError from error


def _remove_if_idle(folder: os.DirEntry[str], before: float) -> int:
    """Removes a directory whose newest file is older; how many files it had."""
    files = _entries(Path(folder.path))
    newest = max(entry.stat(follow_symlinks=False).st_mtime for entry in (folder, *files))
    if newest >= before:
        return 0
    shutil.rmtree(folder.path, ignore_errors=True)
    return len(files)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        return list(entries)


def _flush_folder(folder: Path) -> None:
    """Makes the names in a folder last through a loss of power."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Lets one process at a time look at a folder's files and then change them."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _changed(file: StoredFile) -> LoaderError:
    return LoaderError(
        ErrorCode.SOURCE_CHANGED, "A part of the upload is gone; send it again.", file.name
    )


@contextmanager
def _writing() -> Iterator[None]:
    """Turns the errors of writing into `LoaderError`, which names no path of this machine."""
    try:
        yield
    except OSError as error:
        name = errno.errorcode.get(error.errno or 0, "error")
        if error.errno in _FULL:
            raise LoaderError(
                ErrorCode.STORAGE_FULL,
                f"The place for uploads is full ({name}). Ask whoever runs this hub to make room.",
            ) from error
        if error.errno in _FORBIDDEN:
            raise LoaderError(
                ErrorCode.PERMISSION_DENIED,
                f"XProf Hub may not write where it keeps uploads ({name}). Ask whoever runs it to check "
                "the rights of XPROF_HUB_UPLOAD_ROOT.",
            ) from error
        raise LoaderError(
            ErrorCode.STORAGE_UNAVAILABLE,
            f"The place for uploads can't be written to ({name}). Try again in a minute.",
        ) from error
