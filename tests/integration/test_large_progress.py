"""A failure that a large worker may mend is no end yet: who waits is told how far that one is."""

from __future__ import annotations

import json
from pathlib import Path

from loader.caches.results import DirectoryResults, ResultHeader, StoredError
from loader.catalog import list_session
from loader.engine.base import engine_version
from loader.errors import ErrorCode
from loader.plan import plan_for
from loader.storage.roots import open_storage
from server.xprof.queries import request_of_route
from tests.services.cluster import PROFILE_PATH, SECRET, get
from tests.services.hub import HubFactory, copy_of, share
from tests.services.pair import until
from tests.services.pause import paused_engine

QUERY = {"tag": "hlo_stats", "host": "ALL_HOSTS"}
ROUTE = "data?tag=hlo_stats&host=ALL_HOSTS"
COME_BACK = {"Prefer": "respond-async"}


def remember_lack_of_memory(folder: Path, data: Path) -> None:
    """What a worker leaves in the result cache when a conversion ran out of memory."""
    files = list_session(open_storage((str(folder),)), (str(folder),))
    plan = plan_for(files, engine_version("xprof"), request_of_route("data", files, QUERY))
    failure = StoredError(ErrorCode.OUT_OF_MEMORY.value, "It needed too much memory.", None)
    header = ResultHeader("application/json", 0, 0, error=failure)
    DirectoryResults(data / "results", 1 << 20).put(plan.key, header, None, 600)


def test_a_lack_of_memory_is_no_end_while_a_large_worker_is_at_it(
    hubs: HubFactory, small_session: Path, tmp_path: Path
) -> None:
    folder = copy_of(small_session, tmp_path / "session")
    env = {"XPROF_HUB_STORAGE_ROOTS": str(folder), "XPROF_HUB_SECRET_KEY": SECRET}
    small = hubs.start({**env, "XPROF_HUB_MEMORY_BYTES": str(16 << 20)}, only="worker")
    large = hubs.start(env, only="worker")
    data = tmp_path / "front"
    asked = {"XPROF_HUB_WORKERS": small.url, "XPROF_HUB_LARGE_WORKERS": large.url}
    front = hubs.start({**env, **asked, "XPROF_HUB_DATA_DIR": str(data)}, only="front")
    base = share(front.url, "r", "s", folder) + PROFILE_PATH
    remember_lack_of_memory(folder, data)

    def state() -> str:
        return str(json.loads(get(f"{base}/progress/{ROUTE}").body)["state"])

    assert state() == "idle"
    with paused_engine(large):
        assert get(f"{base}/{ROUTE}", COME_BACK, timeout=20).status == 202
        until(lambda: state() == "running")
    until(lambda: get(f"{base}/{ROUTE}", COME_BACK).status == 200)
