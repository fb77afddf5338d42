"""The only storage that the product hands out: it reads below configured roots and nowhere else.

Whoever may attach a session names a location; without this check that person could read any bucket and
any file that the service can. Roots cover whole path segments, and links out of a root are not followed.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from loader.errors import ErrorCode, LoaderError
from loader.storage.address import GCS_SCHEME, has_plain_segments, is_gcs, parse_gcs, shown
from loader.storage.base import PAGE_ENTRIES, FolderPage, Storage, StoredFile, ignore
from loader.storage.local import LocalStorage


class RootedStorage:
    """Storage limited to roots.

    Args:
        roots: `gs://bucket[/prefix]` and directories; a relative directory is taken from the working
            directory at construction.
        gcs: makes the object store's storage, at the first use of a `gs://` location.
        local: storage of directories.

    Raises:
        LoaderError: INVALID_REQUEST when a root is neither.
    """

    def __init__(self, roots: Sequence[str], gcs: Callable[[], Storage], local: Storage) -> None:
        self._gcs_roots = tuple(_gcs_root(root) for root in roots if is_gcs(root))
        self._local_roots = tuple(_local_root(root) for root in roots if not is_gcs(root))
        self._make_gcs = gcs
        self._local = local
        self._gcs: Storage | None = None
        self._lock = threading.Lock()

    def list_files(self, location: str) -> list[StoredFile]:
        """As `Storage.list_files`; a link to a file outside the roots is not listed.

        Raises:
            LoaderError: PERMISSION_DENIED outside the roots, and the errors of the storage.
        """
        files = self._storage_for(location).list_files(location)
        return [file for file in files if self._covers(file.location)]

    def list_folders(self, location: str) -> list[str]:
        """As `Storage.list_folders`; a link to a folder outside the roots is not listed.

        Raises:
            LoaderError: PERMISSION_DENIED outside the roots, and the errors of the storage.
        """
        folders = self._storage_for(location).list_folders(location)
        return [folder for folder in folders if self._covers(folder)]

    def list_folder_page(
        self, location: str, after: str = "", most: int = PAGE_ENTRIES
    ) -> FolderPage:
        """As `Storage.list_folder_page`; a link to a folder outside the roots is not listed.

        Raises:
            LoaderError: PERMISSION_DENIED outside the roots, and the errors of the storage.
        """
        page = self._storage_for(location).list_folder_page(location, after, most)
        return replace(page, folders=tuple(f for f in page.folders if self._covers(f)))

    def download(
        self, file: StoredFile, destination: Path, wrote: Callable[[int], None] = ignore
    ) -> None:
        """As `Storage.download`, after checking again where the file is now.

        Raises:
            LoaderError: PERMISSION_DENIED outside the roots, and the errors of the storage.
        """
        storage = self._storage_for(file.location)
        storage.download(self._resolved(file), destination, wrote)

    def read_part(self, file: StoredFile, start: int, length: int) -> bytes:
        """As `Storage.read_part`, after checking again where the file is now.

        Raises:
            LoaderError: PERMISSION_DENIED outside the roots, and the errors of the storage.
        """
        storage = self._storage_for(file.location)
        return storage.read_part(self._resolved(file), start, length)

    def _resolved(self, file: StoredFile) -> StoredFile:
        """The file by the place where it is now, which must lie under a root."""
        if is_gcs(file.location):
            return file
        # The resolved path has no links left, and the last place is opened without following one;
        # what a swapped directory would lead to has another inode, hence another generation.
        file = replace(file, location=os.path.realpath(file.location))
        self._require_covered(file.location)
        return file

    def _storage_for(self, location: str) -> Storage:
        """The storage of a location that lies under a root."""
        self._require_covered(location)
        return self._connected_gcs() if is_gcs(location) else self._local

    def _connected_gcs(self) -> Storage:
        """Connects once; a failed attempt is made again by the next caller."""
        with self._lock:
            if self._gcs is None:
                self._gcs = self._make_gcs()
            return self._gcs

    def _require_covered(self, location: str) -> None:
        if not self._covers(location):
            is_address = is_gcs(location) or location.startswith("/")
            advice = (
                "use one that is, or ask the administrator to add its root."
                if is_address
                else "give gs://bucket/... or an absolute path on the hub's machine."
            )
            raise LoaderError(
                ErrorCode.PERMISSION_DENIED,
                f"The location {shown(location)} is not under the configured storage roots; {advice}",
            )

    def _covers(self, location: str) -> bool:
        """Whether a location lies under a root, links resolved."""
        if not has_plain_segments(location):
            return False
        if is_gcs(location):
            name = f"{location.removesuffix('/')}/"
            return any(name.startswith(root) for root in self._gcs_roots)
        if not location.startswith("/"):
            return False
        resolved = Path(os.path.realpath(location))
        return any(resolved.is_relative_to(os.path.realpath(root)) for root in self._local_roots)


def open_storage(roots: Sequence[str]) -> RootedStorage:
    """The storage of an installation with these roots (`XPROF_HUB_STORAGE_ROOTS`).

    Raises:
        LoaderError: INVALID_REQUEST when a root is neither.
    """
    return RootedStorage(roots, _connect_gcs, LocalStorage())


def _connect_gcs() -> Storage:
    # Google's client takes 30 MB of memory, which a process without a bucket can spare.
    from loader.storage.gcs import connect_gcs

    return connect_gcs()


def _gcs_root(root: str) -> str:
    """A root with exactly one slash at its end, so that it covers whole segments only."""
    if not has_plain_segments(root):
        raise LoaderError(
            ErrorCode.INVALID_REQUEST,
            f"The storage root {shown(root)} has an empty, '.' or '..' part; write it without.",
        )
    address = parse_gcs(root)
    return f"{GCS_SCHEME}{address.bucket}/{address.prefix}"


def _local_root(root: str) -> Path:
    """A directory, made absolute now, so that a later change of the working directory moves no root."""
    if not root.strip() or "://" in root:
        raise LoaderError(
            ErrorCode.INVALID_REQUEST,
            f"The storage root {shown(root)} is neither a directory nor gs://bucket[/prefix].",
        )
    return Path(root).expanduser().absolute()
