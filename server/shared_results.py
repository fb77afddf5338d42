"""Where finished answers lie that front ends share, and how far the others are. Loads no web framework."""

from __future__ import annotations

from loader.progress import PROGRESS_FOLDER, DirectoryProgress, ProgressBoard
from loader.redis_progress import RedisProgress
from loader.redis_results import RedisGuard, RedisResults, connect
from loader.results import DirectoryResults
from server.settings import Settings


def open_shared(settings: Settings) -> tuple[RedisResults | DirectoryResults, ProgressBoard]:
    """Where the front end looks for finished answers, and for how far the others are."""
    if settings.redis_url:
        client, guard = connect(settings.redis_url), RedisGuard()
        return RedisResults(client, guard), RedisProgress(client, guard)
    results = DirectoryResults(settings.data_dir / "results", settings.cache_bytes)
    return results, DirectoryProgress(settings.data_dir / PROGRESS_FOLDER)
