"""Removing what abandoned uploads have left, now and then, beside the requests."""

from __future__ import annotations

import asyncio
import logging
import random
import time

from loader.errors import LoaderError
from server.uploads.receiving import InThread
from server.uploads.store import UploadStore

ABANDONED_SECONDS = 24 * 3600.0
"""An upload of which nothing has come for so long is given up."""
_PAUSE_SECONDS = 3600.0
logger = logging.getLogger(__name__)


async def clean_now_and_then(store: UploadStore, in_thread: InThread) -> None:
    """Looks about once an hour, until it is cancelled; every front end may do so."""
    while True:
        # All front ends of a deployment start together; they need not list the bucket together.
        await asyncio.sleep(_PAUSE_SECONDS * random.uniform(0.5, 1.5))  # noqa: S311
        try:
            await in_thread(lambda: clean(store, time.time()))
        except Exception:  # the background has nobody else who would say it
            logger.exception("abandoned uploads were not removed")


def clean(store: UploadStore, now: float) -> int:
    """Removes uploads that were given up.

    Args:
        store: where they lie.
        now: Unix seconds.

    Returns:
        How many files were removed.
    """
    try:
        removed = store.remove_abandoned(now - ABANDONED_SECONDS)
    except LoaderError as problem:
        logger.warning("abandoned uploads were not removed: %s", problem.message)
        return 0
    if removed:
        logger.info("removed %d files of abandoned uploads", removed)
    return removed
