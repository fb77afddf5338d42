"""How often a front end finds an answer that is kept, counted and noted for `Server-Timing`."""

from __future__ import annotations

from collections.abc import Callable

from loader.caches.counted_looks import outcome_of
from loader.caches.redis_results import RedisResults
from loader.caches.results import ResultStore
from loader.observing import CacheLayer, Lookup
from server.tracing.notes import current_notes


class FrontLookups:
    """Counts looks into the store that front ends share.

    Args:
        results: that store.
        looked_up: told of each look.
    """

    def __init__(
        self, results: ResultStore, looked_up: Callable[[CacheLayer, Lookup], None]
    ) -> None:
        self._redis = results if isinstance(results, RedisResults) else None
        self._looked_up = looked_up

    def note(self, *, is_found: bool) -> None:
        """An answer was looked for: in Redis, or without one on the disk."""
        layer = CacheLayer.DISK if self._redis is None else CacheLayer.REDIS
        self._looked_up(layer, outcome_of(is_found, self._is_failing))
        notes = current_notes()
        if notes is not None:
            where = "hit" if self._redis is None else "redis"
            notes.describe("cache", where if is_found else "miss")

    def _is_failing(self) -> bool:
        return self._redis is not None and self._redis.is_failing
