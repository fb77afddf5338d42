"""Puts the parts of uploads together, where a hub has a place for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import anyio
import anyio.to_thread

from loader.storage.base import Storage
from loader.storage.writing import open_writer
from server.registry.database import Database
from server.settings import Settings
from server.uploads.placing import Placer
from server.uploads.room import UploadRoom
from server.uploads.service import Uploads
from server.uploads.store import UploadStore
from server.xprof.prewarm import Prewarmer

_THREADS = 16
"""Blocking calls at once: uploads that wait for a slow disk or bucket stop nothing else."""
T = TypeVar("T")


def open_uploads(
    settings: Settings, database: Database, storage: Storage, prewarmer: Prewarmer
) -> Uploads | None:
    """The uploads of a front end, or None when it has no place for them.

    Raises:
        LoaderError: XPROF_HUB_UPLOAD_ROOT can't be used.
        OSError: its directory can't be made.
    """
    if not settings.upload_root:
        return None
    limiter = anyio.CapacityLimiter(_THREADS)

    async def in_thread(call: Callable[[], T], /) -> T:
        return await anyio.to_thread.run_sync(call, limiter=limiter)

    writer = open_writer(settings.upload_root)
    store = UploadStore(writer.root, storage, writer)
    placer = Placer(database, store, prewarmer)
    quota, free = settings.upload_quota_bytes, settings.upload_free_bytes
    room = UploadRoom(database, writer.root, quota, free)
    return Uploads(store, placer, prewarmer, in_thread, room, settings.upload_bytes)
