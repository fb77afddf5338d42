"""A worker's own process stays small whatever its children convert."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import psutil

from loader.tools import MODULE_LIST, RUN_TOOLS
from server.fleet.protocol import TOOL_DATA_PATH, worker_credential
from tests.services.cluster import SECRET
from tests.services.hub import HubFactory

MOST_BYTES = 150_000_000
TOOLS = (RUN_TOOLS, MODULE_LIST, "overview_page", "trace_viewer@", "op_profile", "hlo_stats")
ONE_HOST_TOOLS = ("memory_profile", "trace_viewer")
WINDOW = {"resolution": 8000, "full_dma": False, "start_time_ms": 0.0}


def test_a_worker_stays_below_150_megabytes(hubs: HubFactory, demo_session: Path) -> None:
    env = {"XPROF_HUB_SECRET_KEY": SECRET, "XPROF_HUB_STORAGE_ROOTS": str(demo_session)}
    worker = hubs.start(env, only="worker")

    def ask(
        tool: str, hosts: Sequence[str] | None = None, options: Mapping[str, object] | None = None
    ) -> int:
        body: dict[str, object] = {
            "locations": [str(demo_session)],
            "tool": tool,
            "hosts": hosts,
            "options": dict(options or {}),
            "as_csv": False,
        }
        return httpx2.post(
            f"{worker.url}{TOOL_DATA_PATH}",
            json=body,
            headers={"Authorization": f"Bearer {worker_credential(SECRET)}"},
            timeout=120,
            trust_env=False,
        ).status_code

    host = min(path.name.removesuffix(".xplane.pb") for path in demo_session.iterdir())
    assert {ask(tool) for tool in TOOLS} | {ask(tool, [host]) for tool in ONE_HOST_TOOLS} == {200}
    # Answers of several megabytes at once, each compressed in a thread of its own.
    windows = [{**WINDOW, "end_time_ms": 20.0 * number} for number in range(1, 9)]
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda window: ask("trace_viewer@", None, window), windows)) == {200}
    resident = psutil.Process(worker.process.popen.pid).memory_info().rss
    assert resident < MOST_BYTES, f"{resident / 1e6:.0f} MB"
