"""A hub reads the figures of its sessions by itself, and they are those that XProf's own answers say."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from server.figures.values import SessionFigures
from server.registry.database import Database
from server.registry.sessions import get_session
from server.registry.summaries import SessionSummary, get_summary
from tests.services.cluster import PROFILE_PATH, get
from tests.services.hub import HubFactory, share
from tests.services.pair import until

FIRST_HOST = "t1v-n-3c1f2ab0-w-0"


@dataclass(frozen=True)
class Known:
    """A hub that converts in advance, with sessions that nobody has opened.

    Attributes:
        url: its address.
        database: its registry.
        links: address of XProf by the run's name.
    """

    url: str
    database: Database
    links: Mapping[str, str]

    def summary(self, run: str) -> SessionSummary:
        """What the hub knows of the run's session, once it has asked XProf."""
        uid = get_session(self.database, run, "s").uid

        def is_asked() -> bool:
            found = get_summary(self.database, uid)
            return found is not None and bool(found.state.engine)

        until(is_asked)
        found = get_summary(self.database, uid)
        assert found is not None
        return found

    def figures(self, run: str) -> SessionFigures:
        """Its figures."""
        found = self.summary(run).figures
        assert found is not None
        return found

    def answer(self, run: str, tool: str, host: str = "ALL_HOSTS") -> Any:
        """XProf's own answer."""
        query = urlencode({"run": "s", "tag": tool, "host": host})
        return json.loads(get(f"{self.links[run]}/data?{query}").body)


@pytest.fixture(scope="module")
def known(
    tmp_path_factory: pytest.TempPathFactory,
    demo_session: Path,
    other_sessions: Mapping[str, Path],
) -> Iterator[Known]:
    folders = {"demo": demo_session, **other_sessions}
    folder = tmp_path_factory.mktemp("figures")
    factory = HubFactory(folder)
    url = f"sqlite:///{folder / 'registry.sqlite'}"
    roots = ",".join(str(path) for path in folders.values())
    settings = {
        "XPROF_HUB_STORAGE_ROOTS": roots,
        "XPROF_HUB_DATABASE_URL": url,
        "XPROF_HUB_PREWARM": "true",
    }
    database = Database(url)
    try:
        hub = factory.start(settings)
        links = {run: share(hub.url, run, "s", path) for run, path in folders.items()}
        yield Known(
            hub.url, database, {run: f"{link}{PROFILE_PATH}" for run, link in links.items()}
        )
    finally:
        factory.stop_all()
        database.close()


def table(answer: Any) -> list[dict[str, Any]]:
    """Rows of one of XProf's tables by their columns' ids."""
    ids = [column["id"] for column in answer["cols"]]
    return [
        dict(zip(ids, (cell.get("v") for cell in row["c"]), strict=True)) for row in answer["rows"]
    ]


def test_files_are_counted_in_one_listing(known: Known, demo_session: Path) -> None:
    found = known.summary("demo")
    sizes = {
        path.name.removesuffix(".xplane.pb"): path.stat().st_size
        for path in demo_session.glob("*.xplane.pb")
    }
    assert {host.name: host.bytes for host in found.hosts} == sizes
    assert found.host_count == 4
    assert found.total_bytes == sum(sizes.values())


def test_steps_are_those_of_the_overview(known: Known) -> None:
    for run in ("demo", "jax"):
        told = known.answer(run, "overview_page")[1]["p"]
        steps = known.figures(run).steps
        assert steps is not None
        digits = len(told["steptime_ms_average"].partition(".")[2])
        assert steps.count == 8
        assert f"{steps.average:.{digits}f}" == told["steptime_ms_average"]
        assert f"{steps.shortest:.{digits}f}" == told["steptime_ms_minimum"]
        assert f"{steps.longest:.{digits}f}" == told["steptime_ms_maximum"]
        assert f"{steps.deviation:.{digits}f}" == told["steptime_ms_standard_deviation"]
    rows = table(known.answer("jax", "overview_page")[1])
    assert known.figures("jax").step_times_ms == pytest.approx([row["stepTimeMs"] for row in rows])


def test_the_slowest_host_comes_first(known: Known) -> None:
    hosts = known.figures("demo").hosts
    pods = known.answer("demo", "pod_viewer")["podStatsSequence"]["podStatsMap"]
    expected = {}
    for host in {core["hostName"] for pod in pods for core in pod["podStatsPerCore"].values()}:
        steps = [
            max(
                core["totalDurationUs"]
                for core in pod["podStatsPerCore"].values()
                if core["hostName"] == host
            )
            / 1000
            for pod in pods
        ]
        expected[host] = (statistics.mean(steps), max(steps))
    assert len(hosts) == 4
    for one in hosts:
        assert (one.average_step_ms, one.slowest_step_ms) == pytest.approx(expected[one.name])
    averages = [one.average_step_ms for one in hosts]
    assert averages == sorted(averages, reverse=True)
    # The demo's fourth host is made to be slower than the others.
    assert hosts[0].name == "t1v-n-3c1f2ab0-w-3"
    cores = [
        core["stepBreakdownUs"]["1"] / 1000
        for pod in pods
        for core in pod["podStatsPerCore"].values()
        if core["hostName"] == hosts[0].name
    ]
    assert hosts[0].parts[0].name == "Device compute"
    assert hosts[0].parts[0].average_ms == pytest.approx(statistics.mean(cores))


def test_devices_are_named_and_their_use_is_told(known: Known) -> None:
    demo, jax, gpu = (known.figures(run) for run in ("demo", "jax", "gpu"))
    told = known.answer("demo", "overview_page")
    assert (demo.device_type, demo.device_count, demo.host_count) == ("TPU v5p", 16, 4)
    use = demo.utilisation
    assert f"{use.duty_cycle}%" == told[0]["p"]["device_duty_cycle_percent"]
    assert f"{use.matrix_units}%" == told[0]["p"]["mxu_utilization_percent"]
    assert f"{use.memory_bandwidth}%" == told[0]["p"]["hbm_utilization_percent"]
    assert use.idle is not None
    assert f"{use.idle:.1f}%" == told[0]["p"]["device_idle_time_percent"]
    assert (jax.device_type, jax.device_count, jax.utilisation.duty_cycle) == ("CPU", 0, None)
    assert (gpu.device_type, gpu.device_count, gpu.utilisation.matrix_units) == ("GPU", 2, None)


@pytest.mark.parametrize("run", ["demo", "gpu"])
def test_operations_with_most_time_come_first(known: Known, run: str) -> None:
    figures = known.figures(run)
    rows = [row for row in table(known.answer(run, "framework_op_stats")[1])]
    rows = [row for row in rows if row["host_or_device"] == "Device"]
    expected = sorted((row["total_self_time"] for row in rows), reverse=True)
    assert [op.self_time_us for op in figures.top_ops] == pytest.approx(expected)
    assert figures.op_count == len(rows)
    best = table(known.answer(run, "overview_page")[0])
    assert [op.share for op in figures.top_ops[: len(best)]] == pytest.approx(
        [row["selfTimePercent"] for row in best]
    )
    second = figures.top_ops[1]
    assert (second.name, second.category) == (best[1]["operation"], best[1]["category"])
    assert sum(op.share for op in figures.top_ops) == pytest.approx(1)
    assert not figures.is_host_time


def test_the_peak_of_memory_is_that_of_the_fullest_device(known: Known) -> None:
    for run, host in (("demo", FIRST_HOST), ("memory", "host")):
        profiles = known.answer(run, "memory_profile", host)["memoryProfilePerAllocator"]
        peaks = {
            int(one["profileSummary"]["peakStats"]["peakBytesInUse"]): int(
                one["profileSummary"]["memoryCapacity"]
            )
            for one in profiles.values()
        }
        figures = known.figures(run)
        assert figures.peak_memory_bytes == max(peaks)
        assert figures.memory_capacity_bytes == peaks[max(peaks)]


def test_what_a_profile_does_not_say_is_left_out(known: Known) -> None:
    gpu, memory = known.figures("gpu"), known.figures("memory")
    assert gpu.steps is memory.steps is None
    assert gpu.average_step_ms is memory.average_step_ms is None
    assert gpu.peak_memory_bytes is None
    assert gpu.gaps
    assert known.figures("jax").top_ops == ()


def test_a_comparison_says_the_same(known: Known) -> None:
    """Two devices, so that what can't be compared is left out and said."""

    def is_ready() -> bool:
        return get(f"{known.url}/v1/comparisons?left=demo/s&right=gpu/s").status == 200

    until(is_ready)
    found = json.loads(get(f"{known.url}/v1/comparisons?left=demo/s&right=gpu/s&opLimit=600").body)
    told = known.answer("demo", "overview_page")[1]["p"]
    average = found["stepTime"]["averageMs"]
    assert f"{average['left']:.2f}" == told["steptime_ms_average"]
    assert "right" not in average
    assert found["opBasis"] == "PROFILE"
    rows = table(known.answer("gpu", "framework_op_stats")[1])
    add = next(row for row in rows if row["operation"] == "jit(train_step)/add")
    shown = next(op for op in found["ops"] if op["name"] == "jit(train_step)/add")
    assert shown["timeUs"]["right"] == pytest.approx(add["total_self_time"] / 2)
    assert "TPU v5p on the left, GPU on the right" in found["warnings"][0]
