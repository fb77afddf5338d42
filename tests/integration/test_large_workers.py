"""What does not fit into one worker's memory is made by a larger one, or refused with the sizes."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.services.cluster import PROFILE_PATH, SECRET, conversions, get
from tests.services.hub import HubFactory, HubProcess, copy_of, share

OVERVIEW = "data?tag=overview_page&host=ALL_HOSTS"
SMALL = {"XPROF_HUB_MEMORY_BYTES": str(16 << 20)}
"""Less than a child of XProf needs for anything."""


def settings(folder: Path, name: str) -> dict[str, str]:
    """Settings of one process with a data directory of its own, as on another machine."""
    return {
        "XPROF_HUB_STORAGE_ROOTS": str(folder / "profiles"),
        "XPROF_HUB_DATA_DIR": str(folder / name),
        "XPROF_HUB_DATABASE_URL": f"sqlite:///{folder / 'registry.sqlite'}",
        "XPROF_HUB_SECRET_KEY": SECRET,
    }


def retries(front: HubProcess) -> float:
    text = get(f"{front.url}/metrics").body.decode()
    (count,) = re.findall(r"^xprof_hub_worker_retries_total ([\d.]+)$", text, re.M)
    return float(count)


def test_the_large_worker_makes_what_the_small_one_cannot(
    hubs: HubFactory, small_session: Path, tmp_path: Path
) -> None:
    folder = copy_of(small_session, tmp_path / "profiles" / "session")
    small = hubs.start({**settings(tmp_path, "small"), **SMALL}, only="worker")
    large = hubs.start(settings(tmp_path, "large"), only="worker")
    asks_small = {"XPROF_HUB_WORKERS": small.url}
    alone = hubs.start({**settings(tmp_path, "alone"), **asks_small}, only="front")
    link = share(alone.url, "r", "s", folder)
    refused = get(f"{link}{PROFILE_PATH}/{OVERVIEW}")
    error = json.loads(refused.body)["error"]
    assert (refused.status, error["details"][0]["reason"]) == (507, "needs_larger_worker")
    assert len(re.findall(r"\d+ (?:MB|GB)", error["message"])) == 2
    assert "etag" not in refused.headers

    both = {**asks_small, "XPROF_HUB_LARGE_WORKERS": large.url}
    front = hubs.start({**settings(tmp_path, "front"), **both}, only="front")
    base = link.replace(alone.url, front.url) + PROFILE_PATH
    for _ in range(2):
        assert get(f"{base}/{OVERVIEW}").status == 200
    assert get(f"{base}/run_tools", {"Prefer": "respond-async, wait=60"}).status == 200
    assert conversions(small) == {}
    assert conversions(large)["overview_page", "profile"] == 1
    assert retries(front) == 0
    # What needs no engine is still the small one's work.
    assert json.loads(get(f"{base}/status").body)["state"] == "ok"
