"""What looking costs: 2,000 runs with 3 sessions each beside 50,000 checkpoint objects."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime

import pytest

from loader.storage.gcs import GcsStorage
from server.discovery.importing import Importer
from server.registry.database import Database
from server.registry.discovery import find_runs_by_ids, known_sessions
from tests.discovery_parts import ROOT, Clock, CountingStore, Parts, profile
from tests.integration.fake_gcs import serving

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
RUNS = [f"run-{number:04}" for number in range(2000)]
NAMES = [f"2025_0{month}_01_12_00_00" for month in (1, 2, 3)]


@pytest.fixture(scope="module")
def store() -> CountingStore:
    """The bucket: checkpoints within each run's folder and beside the runs' folders."""
    store = CountingStore(profile(run, name) for run in RUNS for name in NAMES)
    for number in range(25_000):
        store.put(f"{ROOT}/{RUNS[number % 2000]}/checkpoints/{number}/weights")
        store.put(f"{ROOT}/checkpoints/{number}")
    return store


def importer_of(parts: Parts) -> Importer:
    return Importer(parts.store, parts.maker, parts.rules.pace)


def test_the_first_page_of_an_import_takes_five_listings(
    sqlite_database: Database, store: CountingStore
) -> None:
    store.calls.clear()
    parts = Parts(sqlite_database, store, Clock(NOW))
    # The first page that `xprof-hub import` asks for; one of its folders holds checkpoints.
    page = importer_of(parts).take_page(f"{ROOT}", "checkpoints/", 4, is_dry=False, now=NOW)
    assert [run.run for run in page.runs] == RUNS[:4]
    assert sum(run.new_sessions for run in page.runs) == 12
    assert store.calls[0] == ROOT
    assert sorted(store.calls[1:]) == [f"{ROOT}/{run}/plugins/profile" for run in RUNS[:4]]


def test_a_full_pass_lists_each_runs_folder_once(
    sqlite_database: Database, store: CountingStore
) -> None:
    store.calls.clear()
    importer, after, seen = importer_of(Parts(sqlite_database, store, Clock(NOW))), "", 0
    while seen == 0 or after:
        page = importer.take_page(ROOT, after, 500, is_dry=True, now=NOW)
        seen, after = seen + len(page.runs), page.next
    assert seen == 2000
    per_run = [f"{ROOT}/{run}/plugins/profile" for run in RUNS]
    assert sorted(call for call in store.calls if "/run-" in call) == per_run
    others = [call for call in store.calls if "/run-" not in call]
    # 2,001 folders in pages of 500, and the two places where the folder of checkpoints might hold sessions.
    assert others.count(ROOT) == 5
    assert sorted(set(others) - {ROOT}) == [
        f"{ROOT}/checkpoints/plugins/profile",
        f"{ROOT}/checkpoints/tensorboard/plugins/profile",
    ]
    assert find_runs_by_ids(sqlite_database, RUNS[:3]) == {}


def test_the_scanner_adopts_them_with_one_listing_each(sqlite_database: Database) -> None:
    few = RUNS[:60]
    store = CountingStore(profile(run, name) for run in few for name in NAMES)
    for number in range(5000):
        store.put(f"{ROOT}/{few[number % 60]}/checkpoints/{number}")
    parts = Parts(sqlite_database, store, Clock(NOW))
    asyncio.run(parts.until_quiet())
    folders = [call for call in store.calls if call.endswith("plugins/profile")]
    assert sorted(folders) == [f"{ROOT}/{run}/plugins/profile" for run in few]
    assert store.calls.count(ROOT) == 1
    # The rest are the looks at the sessions that were found, one each.
    assert len(store.calls) == 1 + 60 + 180
    adopted = find_runs_by_ids(sqlite_database, few)
    assert len(adopted) == 60
    assert all(len(known_sessions(sqlite_database, run.uid).ids) == 3 for run in adopted.values())


def test_a_real_clients_page_takes_five_requests_and_under_a_second_of_work(
    sqlite_database: Database,
) -> None:
    with serving() as bucket:
        bucket.page = 1000
        for run in RUNS:
            for name in NAMES:
                bucket.objects[f"team/{run}/plugins/profile/{name}/h0.xplane.pb"] = b"p"
            for step in range(25):
                bucket.objects[f"team/{run}/checkpoints/{step}"] = b"w"
        storage = GcsStorage(bucket.client())
        parts = Parts(sqlite_database, CountingStore(), Clock(NOW))
        importer = Importer(storage, parts.maker, parts.rules.pace)
        times, after = [], ""
        for _ in range(3):
            bucket.requests.clear()
            begin = time.process_time()
            page = importer.take_page("gs://bucket/team", after, 4, is_dry=False, now=NOW)
            times.append(time.process_time() - begin)
            assert sum(run.new_sessions for run in page.runs) == 12
            assert len(bucket.requests) == 5
            after = page.next
    # Of the processor, which others may have meanwhile; the bucket's share is in it.
    assert min(times) < 1
