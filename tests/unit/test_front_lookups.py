"""What a front end counts of its looks for answers, and what `Server-Timing` says of them."""

from __future__ import annotations

from pathlib import Path

from loader.caches.redis_results import RedisGuard, RedisResults, connect
from loader.caches.results import DirectoryResults
from loader.observing import CacheLayer, Lookup
from server.tracing.notes import begin_notes, timed
from server.xprof.lookups import FrontLookups
from tests.services.processes import free_port

KEY = "0" * 64


def timing_of(lookups: FrontLookups, *, is_found: bool) -> str:
    notes = begin_notes()
    with timed("cache"):
        lookups.note(is_found=is_found)
    return notes.server_timing().rpartition(";")[0]


def test_without_redis_the_layer_is_the_disk(tmp_path: Path) -> None:
    told: list[tuple[CacheLayer, Lookup]] = []
    lookups = FrontLookups(DirectoryResults(tmp_path, 1), lambda *look: told.append(look))
    assert timing_of(lookups, is_found=True) == "cache;desc=hit"
    assert timing_of(lookups, is_found=False) == "cache;desc=miss"
    assert told == [(CacheLayer.DISK, Lookup.HIT), (CacheLayer.DISK, Lookup.MISS)]


def test_redis_that_does_not_answer_has_failed_and_not_missed() -> None:
    told: list[tuple[CacheLayer, Lookup]] = []
    results = RedisResults(connect(f"redis://127.0.0.1:{free_port()}/0"), RedisGuard())
    lookups = FrontLookups(results, lambda *look: told.append(look))
    assert timing_of(lookups, is_found=True) == "cache;desc=redis"
    lookups.note(is_found=False)
    assert results.open(KEY) is None
    lookups.note(is_found=False)
    outcomes = [Lookup.HIT, Lookup.MISS, Lookup.FAILED]
    assert told == [(CacheLayer.REDIS, outcome) for outcome in outcomes]
