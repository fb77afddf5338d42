"""A worker's own process stays small whatever its children convert."""

from __future__ import annotations

from pathlib import Path

import httpx2
import psutil

from loader.tools import MODULE_LIST, RUN_TOOLS
from server.worker_protocol import TOOL_DATA_PATH, worker_credential
from tests.services.cluster import SECRET
from tests.services.hub import HubFactory

MOST_BYTES = 150_000_000
TOOLS = (RUN_TOOLS, MODULE_LIST, "overview_page", "trace_viewer@", "op_profile", "hlo_stats")
ONE_HOST_TOOLS = ("memory_profile", "trace_viewer")


def test_a_worker_stays_below_150_megabytes(hubs: HubFactory, demo_session: Path) -> None:
    env = {"XPROF_HUB_SECRET_KEY": SECRET, "XPROF_HUB_STORAGE_ROOTS": str(demo_session)}
    worker = hubs.start(env, only="worker")
    host = min(path.name.removesuffix(".xplane.pb") for path in demo_session.iterdir())
    questions = [(tool, None) for tool in TOOLS] + [(tool, [host]) for tool in ONE_HOST_TOOLS]
    for tool, hosts in questions:
        body: dict[str, object] = {
            "locations": [str(demo_session)],
            "tool": tool,
            "hosts": hosts,
            "options": {},
            "as_csv": False,
        }
        answer = httpx2.post(
            f"{worker.url}{TOOL_DATA_PATH}",
            json=body,
            headers={"Authorization": f"Bearer {worker_credential(SECRET)}"},
            timeout=120,
            trust_env=False,
        )
        assert answer.status_code == 200, answer.text
    resident = psutil.Process(worker.process.popen.pid).memory_info().rss
    print(f"worker: {resident / 1e6:.0f} MB")
    assert resident < MOST_BYTES
