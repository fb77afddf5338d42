"""Workers whose disks are full: another one answers, and each comes back when there is room."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from server.fleet.addresses import WorkerAddresses
from tests.services.cluster import PROFILE_PATH, SECRET, conversions, get
from tests.services.hub import HubFactory, HubProcess, copy_of, share
from tests.services.small_disk import fill, small_disk

OVERVIEW = f"{PROFILE_PATH}/data?tag=overview_page&host=ALL_HOSTS"


@dataclass(frozen=True)
class Hub:
    """A front end, and two workers that each have a small disk.

    Attributes:
        profiles: where sessions may lie.
        disks: data directory of each worker, by its address.
    """

    front: HubProcess
    workers: dict[str, HubProcess]
    disks: dict[str, Path]
    profiles: Path

    def ranked(self, session: Path) -> list[str]:
        """Addresses of the workers in the order in which they are asked."""
        return asyncio.run(WorkerAddresses(list(self.workers)).ranked(str(session)))

    def new_session(self, small_session: Path, name: str) -> tuple[str, list[str]]:
        """Address of a link to a session that nobody has opened, and the workers in its order."""
        place = copy_of(small_session, self.profiles / name)
        return share(self.front.url, name, "s", place), self.ranked(place)

    def metric(self, url: str, line: str) -> float:
        """What a process counts."""
        text = get(f"{url}/metrics").body.decode()
        (value,) = re.findall(rf"^{re.escape(line)} (\S+)$", text, re.MULTILINE)
        return float(value)


@pytest.fixture
def hub(hubs: HubFactory, tmp_path: Path) -> Iterator[Hub]:
    profiles = tmp_path / "profiles"
    profiles.mkdir()
    env = {"XPROF_HUB_STORAGE_ROOTS": str(profiles), "XPROF_HUB_SECRET_KEY": SECRET}
    with ExitStack() as exits:
        workers, disks = {}, {}
        for name in ("one", "two"):
            disk = exits.enter_context(small_disk(tmp_path / name, "64m"))
            exits.callback(hubs.stop_all)  # before its disk goes
            worker = hubs.start({**env, "XPROF_HUB_DATA_DIR": str(disk)}, only="worker")
            workers[worker.url], disks[worker.url] = worker, disk
        front = hubs.start({**env, "XPROF_HUB_WORKERS": ",".join(workers)}, only="front")
        yield Hub(front, workers, disks, profiles)


def test_a_full_worker_is_passed_over_and_comes_back(hub: Hub, small_session: Path) -> None:
    link, (first, second) = hub.new_session(small_session, "a")
    fillers = [fill(hub.disks[first])]
    assert get(link + OVERVIEW).status == 200
    assert not conversions(hub.workers[first])
    assert conversions(hub.workers[second])
    ready = get(f"{first}/readyz")
    assert (ready.status, ready.json()["status"]) == (503, "disk")  # type: ignore[index]
    assert ready.headers["retry-after"]
    assert hub.metric(first, "xprof_hub_disk_full") == 1
    assert hub.metric(hub.front.url, 'xprof_hub_worker_ejections_total{reason="full"}') == 1

    link, _ = hub.new_session(small_session, "b")
    fillers.append(fill(hub.disks[second]))
    answer = get(link + OVERVIEW)
    assert (answer.status, answer.headers["retry-after"]) == (503, "30")
    assert b'"worker_full"' in answer.body

    for filler in fillers:
        filler.unlink()
    assert get(link + OVERVIEW).status == 200
    assert [get(f"{url}/readyz").status for url in hub.workers] == [200, 200]
    assert hub.metric(first, "xprof_hub_disk_full") == 0
