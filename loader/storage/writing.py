"""What uploads need of an object store: drafts that nobody sees, and putting a whole one in its place.

The only side of `loader.storage` that writes, below one root of the hub's own and never where jobs keep their
profiles. Every file appears at once and whole, or not at all. Deciding who may write is not done here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Protocol

from loader.errors import ErrorCode, LoaderError
from loader.storage.address import GCS_SCHEME, has_plain_segments, is_gcs, parse_gcs, shown
from loader.storage.base import StoredFile

BLOCK_BYTES = 4 << 20
"""Bytes that are read or copied at a time."""


class AlreadyThereError(Exception):
    """Where the file was to be put lies another one than was expected; nothing was changed."""


class Draft(Protocol):
    """A file that is being written. Ends with `finish` or `discard`; not safe to share between threads."""

    def write(self, block: bytes) -> None:
        """Appends a block.

        Raises:
            LoaderError: PERMISSION_DENIED, BUCKET_NOT_FOUND, STORAGE_FULL or STORAGE_UNAVAILABLE.
        """

    def finish(self) -> StoredFile:
        """Makes what was written a file at the draft's location, on disk for good.

        Raises:
            AlreadyThereError: there is a file at that location.
            LoaderError: as `write`.
        """

    def discard(self) -> None:
        """Forgets what was written; never raises."""


class FileWriter(Protocol):
    """Writes below one root. All calls block; locations outside the root are refused."""

    @property
    def root(self) -> str:
        """The root, without a slash at its end; a directory with its links resolved."""

    def begin(self, location: str) -> Draft:
        """Begins a file; folders are made as needed.

        Raises:
            LoaderError: as `Draft.write`.
        """

    def join(self, parts: Sequence[StoredFile], location: str) -> StoredFile:
        """Makes one file of several in this order; one part alone is answered as it is.

        Raises:
            AlreadyThereError: there is a file at that location.
            LoaderError: SOURCE_CHANGED when a part is gone, and as `Draft.write`.
        """

    def read(self, file: StoredFile, take: Callable[[bytes], None]) -> None:
        """Hands on exactly this generation, block by block.

        Raises:
            LoaderError: SOURCE_CHANGED when it is gone, and STORAGE_UNAVAILABLE.
        """

    def publish(self, draft: StoredFile, location: str, replaces: str | None = None) -> StoredFile:
        """Puts a finished file in its place.

        Args:
            draft: a file below the same root; it may be gone afterwards.
            location: where to.
            replaces: generation of the file that is there; None where there must be none.

        Raises:
            AlreadyThereError: another file is there, or none where one was to be replaced.
            LoaderError: as `Draft.write`.
        """

    def remove(self, file: StoredFile) -> bool:
        """Removes this generation; whether it was there.

        Raises:
            LoaderError: as `Draft.write`.
        """

    def remove_idle(self, folder: str, before: float) -> int:
        """Removes the folders directly in a folder in which nothing was written lately.

        Args:
            folder: below which to look.
            before: Unix seconds; folders whose newest file is older go.

        Returns:
            How many files were removed.

        Raises:
            LoaderError: as `Draft.write`.
        """


def checked_root(root: str) -> str:
    """The root without a slash at its end.

    Raises:
        LoaderError: INVALID_REQUEST when it is neither `gs://bucket[/prefix]` nor an absolute directory.
    """
    bare = root.rstrip("/")
    if is_gcs(root):
        parse_gcs(bare)
    if not has_plain_segments(bare) or not (is_gcs(root) or bare.startswith("/")):
        raise LoaderError(
            ErrorCode.INVALID_REQUEST,
            f"The upload root {shown(root)} is neither an absolute directory nor "
            f"{GCS_SCHEME}bucket[/prefix].",
        )
    return bare


def require_below(root: str, location: str) -> str:
    """The location, if it lies below the root.

    Raises:
        LoaderError: PERMISSION_DENIED.
    """
    name = location.removeprefix(f"{root}/")
    if name in ("", location) or not has_plain_segments(location):
        raise LoaderError(
            ErrorCode.PERMISSION_DENIED, "XProf Hub writes below its upload root and nowhere else."
        )
    return location


def open_writer(root: str) -> FileWriter:
    """The writer of an installation's upload root (`XPROF_HUB_UPLOAD_ROOT`).

    Raises:
        LoaderError: INVALID_REQUEST for a root that can't be one, PERMISSION_DENIED without credentials for a
            bucket.
        OSError: the directory can't be made.
    """
    if is_gcs(root):
        # Google's client takes 30 MB of memory, which a process without a bucket can spare.
        from loader.storage.gcs_writer import connect_gcs_writer

        return connect_gcs_writer(checked_root(root))
    from loader.storage.local_writer import LocalWriter

    directory = checked_root(os.path.realpath(root))
    return LocalWriter(directory)
