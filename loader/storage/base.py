"""What the loader needs of an object store: list with generations, and read one generation.

Reading only: nothing in this protocol writes to a user's bucket or directory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

XPLANE_SUFFIX = ".xplane.pb"
"""Ending of a profile file; what stands before it is the host's name (JAX and XProf agree on this)."""


@dataclass(frozen=True)
class StoredFile:
    """One version of one file.

    Attributes:
        location: full address, `gs://bucket/object` or an absolute path.
        name: the last part of the location.
        size: bytes.
        generation: changes whenever the content is replaced (GCS generation; for a local file its
            times of modification and of change in ns, inode and size).
        modified: when it was written, in Unix seconds, or None when the store does not say. Says whether an
            upload may be under way; what the file is, is for `generation` to say.
    """

    location: str
    name: str
    size: int
    generation: str
    modified: float | None = field(default=None, compare=False)


PAGE_ENTRIES = 1000
"""Most entries of one page of a folder; Cloud Storage gives no more in one answer."""


@dataclass(frozen=True)
class FolderPage:
    """Some of the folders in a folder.

    Attributes:
        folders: their locations, in the order of the store.
        next: where the next page begins, as text that may be kept for days; empty after the last page.
    """

    folders: tuple[str, ...]
    next: str


def ignore(_count: int) -> None:
    """For who doesn't want to know how far a download is."""


class Storage(Protocol):
    """A place that holds profiles. All calls block; all raise `LoaderError`."""

    def list_files(self, location: str) -> list[StoredFile]:
        """The files directly in a folder, sorted by name; a single file's own location gives that file.

        An existing but empty folder and a missing one both give an empty list on GCS, which has no folders.

        Raises:
            LoaderError: PERMISSION_DENIED, BUCKET_NOT_FOUND, NOT_FOUND (local only) or STORAGE_UNAVAILABLE.
        """

    def list_folders(self, location: str) -> list[str]:
        """The locations of the folders directly in a folder, sorted; same errors as `list_files`."""

    def list_folder_page(
        self, location: str, after: str = "", most: int = PAGE_ENTRIES
    ) -> FolderPage:
        """Some of the folders directly in a folder: one request to the store, whatever lies below them.

        Files beside the folders count as entries too, so a page may be empty and not the last.

        Args:
            location: the folder.
            after: `next` of the page before; empty for the first.
            most: entries looked at, 2 to `PAGE_ENTRIES`.

        Raises:
            LoaderError: as `list_files`.
        """

    def download(
        self, file: StoredFile, destination: Path, wrote: Callable[[int], None] = ignore
    ) -> None:
        """Writes exactly this generation of the file to `destination` (bounded memory).

        Args:
            file: as listed.
            destination: where to.
            wrote: told of every so many bytes that were written, from any thread; what it raises ends the
                download.

        Raises:
            LoaderError: SOURCE_CHANGED when this generation is gone, and those of `list_files`.
        """

    def read_part(self, file: StoredFile, start: int, length: int) -> bytes:
        """Some bytes of exactly this generation of the file, as it is stored.

        Args:
            file: as listed.
            start: the first byte's place, below the file's size.
            length: how many, at most to the file's end.

        Raises:
            LoaderError: as `download`.
        """
