"""Where finished answers lie that front ends share, and how far the others are. Loads no web framework."""

from __future__ import annotations

from loader.caches.hedged_reads import ReadObserver
from loader.caches.redis_results import RedisGuard, RedisResults, connect, hedged_reads
from loader.caches.results import DirectoryResults
from loader.coordination.progress import PROGRESS_FOLDER, DirectoryProgress, ProgressBoard
from loader.coordination.redis_progress import RedisProgress
from server.settings import Settings


def open_shared(
    settings: Settings, on_hedged_read: ReadObserver = lambda _outcome: None
) -> tuple[RedisResults | DirectoryResults, ProgressBoard]:
    """Where the front end looks for finished answers, and for how far the others are.

    Args:
        settings: the front end's.
        on_hedged_read: told of slow reads that were asked twice.
    """
    if settings.redis_url:
        client, guard = connect(settings.redis_url), RedisGuard()
        reads = hedged_reads(client, settings.redis_url, settings.redis_replica_url, on_hedged_read)
        return RedisResults(client, guard, reads), RedisProgress(client, guard)
    results = DirectoryResults(settings.data_dir / "results", settings.cache_bytes)
    return results, DirectoryProgress(settings.data_dir / PROGRESS_FOLDER)
