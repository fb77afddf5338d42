"""Storage that counts its listings, so that what discovery costs can be watched and tested."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from loader.storage.base import PAGE_ENTRIES, FolderPage, Storage, StoredFile, ignore


class CountedStorage:
    """Passes everything on.

    Args:
        storage: answers.
        listed: called before each listing, from any thread.
    """

    def __init__(self, storage: Storage, listed: Callable[[], None]) -> None:
        self._storage = storage
        self._listed = listed

    def list_files(self, location: str) -> list[StoredFile]:
        """See `Storage.list_files`."""
        self._listed()
        return self._storage.list_files(location)

    def list_folders(self, location: str) -> list[str]:
        """See `Storage.list_folders`."""
        self._listed()
        return self._storage.list_folders(location)

    def list_folder_page(
        self, location: str, after: str = "", most: int = PAGE_ENTRIES
    ) -> FolderPage:
        """See `Storage.list_folder_page`."""
        self._listed()
        return self._storage.list_folder_page(location, after, most)

    def download(
        self, file: StoredFile, destination: Path, wrote: Callable[[int], None] = ignore
    ) -> None:
        """See `Storage.download`."""
        self._storage.download(file, destination, wrote)

    def read_part(self, file: StoredFile, start: int, length: int) -> bytes:
        """See `Storage.read_part`."""
        return self._storage.read_part(file, start, length)
