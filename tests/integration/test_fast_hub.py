"""Hubs with the fast engine: the same answers under other keys, counted, and a clear word without it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from loader.engine.rs import find_program
from server.metrics.process import Metrics
from server.settings import Settings
from server.worker.app import build_parts
from tests.services.cluster import PROFILE_PATH, SECRET, conversions, get
from tests.services.hub import HubFactory, HubProcess, share


@pytest.fixture(autouse=True)
def installed() -> None:
    try:
        find_program()
    except RuntimeError as reason:
        pytest.skip(str(reason))


def counted(hub: HubProcess, metric: str, tool: str, outcome: str) -> float:
    text = get(f"{hub.url}/metrics").body.decode()
    found = re.search(rf'^{metric}\{{outcome="{outcome}",tool="{tool}"\}} (\S+)$', text, re.M)
    return float(found.group(1)) if found else 0.0


def eventually(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_both_engines_answer_the_same_and_keep_it_apart(
    hubs: HubFactory, small_session: Path, tmp_path: Path
) -> None:
    env = {
        "XPROF_HUB_STORAGE_ROOTS": str(small_session),
        "XPROF_HUB_SECRET_KEY": SECRET,
        "XPROF_HUB_PREWARM": "false",
        "XPROF_HUB_DATA_DIR": str(tmp_path / "data"),
    }
    answers, tags = [], set()
    for engine in ("fast", "xprof"):
        chosen = {**env, "XPROF_HUB_ENGINE": engine, "XPROF_HUB_SHADOW_FRACTION": "1"}
        worker = hubs.start(chosen, only="worker")
        front = hubs.start({**chosen, "XPROF_HUB_WORKERS": worker.url}, only="front")
        base = share(front.url, engine, "s", small_session) + PROFILE_PATH
        answer = get(f"{base}/data?tag=hlo_stats&host=ALL_HOSTS")
        assert answer.status == 200
        answers.append(answer.json())
        tags.add(answer.headers["etag"])
        is_fast = float(engine == "fast")
        assert counted(worker, "xprof_hub_fast_attempts_total", "hlo_stats", "answered") == is_fast
        if is_fast:
            name = "xprof_hub_shadow_comparisons_total"
            eventually(lambda: counted(worker, name, "hlo_stats", "equal") == 1)  # noqa: B023
        assert front.stop() == 0
        assert worker.stop() == 0
    assert answers[0] == answers[1]
    assert len(tags) == 2


def test_other_tools_wait_for_one_conversion_after_a_fast_answer(
    hubs: HubFactory, small_session: Path
) -> None:
    # xprof-rs leaves no artifacts, which is no reason for two tools to make them at the same time.
    env = {
        "XPROF_HUB_STORAGE_ROOTS": str(small_session),
        "XPROF_HUB_SECRET_KEY": SECRET,
        "XPROF_HUB_PREWARM": "false",
        "XPROF_HUB_ENGINE": "fast",
    }
    worker = hubs.start(env, only="worker")
    front = hubs.start({**env, "XPROF_HUB_WORKERS": worker.url}, only="front")
    base = share(front.url, "r", "s", small_session) + PROFILE_PATH
    assert get(f"{base}/data?tag=hlo_stats&host=ALL_HOSTS").status == 200
    with ThreadPoolExecutor(2) as pool:
        tools = ("overview_page", "pod_viewer")
        urls = [f"{base}/data?tag={tool}&host=ALL_HOSTS" for tool in tools]
        assert [answer.status for answer in pool.map(get, urls)] == [200, 200]
    made = conversions(worker)
    assert made["hlo_stats", "profile"] == 1
    assert sum(made.get((tool, "profile"), 0) for tool in tools) == 1
    assert sum(made.get((tool, "artifact"), 0) for tool in tools) == 1


def test_a_worker_without_the_program_does_not_start(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("loader.engine.rs.PACKAGE", "xprof-rs-that-nobody-has")
    settings = Settings(data_dir=tmp_path, engine="fast", storage_roots=(str(tmp_path),))
    with pytest.raises(RuntimeError, match=r"pip install 'xprof-hub\[fast\]'"):
        build_parts(settings, Metrics())
