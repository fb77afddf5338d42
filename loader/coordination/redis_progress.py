"""The board of `loader.coordination.progress` in Redis, for front ends and workers on many machines."""

from __future__ import annotations

import logging
from typing import cast

import redis

from loader.caches.redis_results import RedisGuard
from loader.coordination.progress import ENTRY_SECONDS, Progress

_PREFIX = "xprof-hub:progress:"
logger = logging.getLogger(__name__)


class RedisProgress:
    """A `ProgressBoard` in Redis; without Redis it shows nothing."""

    def __init__(self, client: redis.Redis, guard: RedisGuard) -> None:
        self._client = client
        self._guard = guard

    def post(self, key: str, progress: Progress) -> None:
        """See `ProgressBoard.post`."""
        if self._guard.is_paused:
            return
        try:
            self._client.set(_PREFIX + key, progress.to_json(), px=int(ENTRY_SECONDS * 1000))
        except redis.RedisError as problem:
            self._guard.record(problem)

    def clear(self, key: str) -> None:
        """See `ProgressBoard.clear`."""
        if self._guard.is_paused:
            return
        try:
            self._client.delete(_PREFIX + key)
        except redis.RedisError as problem:
            self._guard.record(problem)

    def read(self, key: str) -> Progress | None:
        """See `ProgressBoard.read`."""
        if self._guard.is_paused:
            return None
        try:
            text = cast("bytes | None", self._client.get(_PREFIX + key))
        except redis.RedisError as problem:
            self._guard.record(problem)
            return None
        try:
            return None if text is None else Progress.from_json(text)
        except ValueError as problem:
            logger.info("progress could not be read: %s", problem)
            return None
