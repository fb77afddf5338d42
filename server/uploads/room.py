"""Whether there is room for another upload: on the disk, and in what the installation allows."""

from __future__ import annotations

import shutil

from loader.errors import ErrorCode, LoaderError
from loader.storage.address import is_gcs
from server.registry.database import Database
from server.registry.keeping import uploaded_bytes


class UploadRoom:
    """The room below an upload root. Everything blocks.

    Args:
        database: the registry.
        root: the upload root.
        quota: most bytes of all uploaded profiles together; 0: no limit.
        free: bytes that stay free on the disk of a local root.
    """

    def __init__(self, database: Database, root: str, quota: int, free: int) -> None:
        self._database = database
        self._root = root
        self._quota = quota
        self._free = free

    def require(self, size: int) -> None:
        """Refuses an upload for which there is no room.

        Args:
            size: bytes that are announced; 0 where nothing is.

        Raises:
            LoaderError: STORAGE_FULL.
        """
        if not is_gcs(self._root) and shutil.disk_usage(self._root).free - size < self._free:
            raise LoaderError(
                ErrorCode.STORAGE_FULL,
                "The disk for uploads is full. Delete sessions that nobody needs, or ask whoever runs this "
                "hub for room (XPROF_HUB_UPLOAD_FREE_BYTES says what stays free).",
            )
        if self._quota and uploaded_bytes(self._database) + size > self._quota:
            raise LoaderError(
                ErrorCode.STORAGE_FULL,
                f"Uploads have {self._quota} bytes together here (XPROF_HUB_UPLOAD_QUOTA_BYTES), and this "
                "one does not fit in. Delete sessions that nobody needs, or ask whoever runs this hub.",
            )
