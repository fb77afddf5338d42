"""Workers behind one name that come, end in order, and die, while people go on asking.

This is what a headless service of Kubernetes gives front ends: a name with the addresses of those workers
that are ready. The test is the autoscaler.
"""

from __future__ import annotations

import asyncio
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from server.demo.session import write_session
from server.fleet.addresses import WorkerAddresses
from tests.services.cluster import PROFILE_PATH, SECRET, conversions, get
from tests.services.hub import HubFactory, HubProcess, share
from tests.services.names import ChangingName
from tests.services.pair import until
from tests.services.processes import free_port

SESSIONS = 12
PEOPLE = 3
OVERVIEW = "/data?tag=overview_page&host=ALL_HOSTS"
FIRST, SECOND, THIRD = "127.0.0.2", "127.0.0.3", "127.0.0.4"


class Fleet:
    """Workers at addresses of this machine, all on one port, and what they share."""

    def __init__(self, hubs: HubFactory, folder: Path) -> None:
        self._hubs = hubs
        self.name = ChangingName("workers.test", folder / "hosts")
        self.port = free_port()
        self.root = folder / "profiles"
        self.env = {
            "XPROF_HUB_STORAGE_ROOTS": str(self.root),
            "XPROF_HUB_SECRET_KEY": SECRET,
        }
        self.workers: dict[str, HubProcess] = {}

    def add(self, address: str) -> HubProcess:
        """Starts a worker; when it is ready the name stands for it, too."""
        worker = self._hubs.start(self.env, only="worker", port=self.port, host=address)
        self.workers[address] = worker
        self.name.set(list(self.workers))
        return worker

    def forget(self, address: str) -> HubProcess:
        """The name stands for this worker no more."""
        worker = self.workers.pop(address)
        self.name.set(list(self.workers))
        return worker

    def front(self) -> HubProcess:
        """A front end that knows the name alone."""
        env = {**self.env, "XPROF_HUB_WORKERS": f"http://{self.name.name}:{self.port}"}
        return self._hubs.start(env, only="front", through=self.name.through)

    def first_asked(self, places: Iterable[str], addresses: Iterable[str]) -> Mapping[str, str]:
        """Which of the addresses is asked first for each of the places."""
        urls = {f"http://{address}:{self.port}": address for address in addresses}
        known = WorkerAddresses(list(urls))
        return {place: urls[asyncio.run(known.ranked(place))[0]] for place in places}

    def places(self) -> list[str]:
        """Sessions of which each of the three workers is asked first for as many."""
        candidates = [str(self.root / f"session{number}") for number in range(20 * SESSIONS)]
        first = self.first_asked(candidates, (FIRST, SECOND, THIRD))
        shares = ([p for p in candidates if first[p] == a] for a in (FIRST, SECOND, THIRD))
        return [place for share in shares for place in share[: SESSIONS // 3]]


@contextmanager
def people_asking(ask: Callable[[str], int], names: list[str]) -> Iterator[list[int]]:
    """People open sessions at random while this lasts; the statuses that they get."""
    statuses: list[int] = []
    over = threading.Event()

    def go_on(seed: int) -> None:
        chosen = random.Random(seed)
        while not over.is_set():
            statuses.append(ask(chosen.choice(names)))

    with ThreadPoolExecutor(PEOPLE) as pool:
        people = [pool.submit(go_on, seed) for seed in range(PEOPLE)]
        try:
            yield statuses
        finally:
            over.set()
        for person in people:
            person.result()  # What broke off without an answer comes out here.


def converted(worker: HubProcess) -> int:
    """Overviews that a worker has made of profiles."""
    return sum(n for (tool, _), n in conversions(worker).items() if tool == "overview_page")


def test_workers_come_end_and_die_and_nobody_sees_an_error(
    hubs: HubFactory, tmp_path: Path
) -> None:
    fleet = Fleet(hubs, tmp_path)
    places = fleet.places()
    assert len(places) == SESSIONS
    for place in places:
        write_session(Path(place), hosts=1, events=200)
    for address in (FIRST, SECOND):
        fleet.add(address)
    front = fleet.front()
    links = {p: share(front.url, Path(p).name, "s", p) + PROFILE_PATH + OVERVIEW for p in places}

    def ask(place: str) -> int:
        # As a worker sends it: another encoding would be kept by the front end, and no worker asked again.
        return get(links[place], {"Accept-Encoding": "zstd"}, timeout=30).status

    with ThreadPoolExecutor(PEOPLE) as pool:
        assert set(pool.map(ask, places)) == {200}
    before = Counter(fleet.first_asked(places, fleet.workers).values())
    for address, worker in fleet.workers.items():
        assert converted(worker) == before[address]

    with people_asking(ask, places) as statuses:
        third = fleet.add(THIRD)
        # Its own share is all that it makes, and nobody else makes anything again.
        until(lambda: converted(third) == SESSIONS // 3, 60)
        wait_for_answers(statuses, 3 * SESSIONS)
        assert converted(third) == SESSIONS // 3
        for address in (FIRST, SECOND):
            assert converted(fleet.workers[address]) == before[address]

        # The front end does not know yet that this one goes, and asks on.
        assert fleet.forget(FIRST).stop() == 0
        wait_for_answers(statuses, 3 * SESSIONS)

        fleet.workers[SECOND].kill()
        wait_for_answers(statuses, 3 * SESSIONS)
        fleet.forget(SECOND)
        wait_for_answers(statuses, SESSIONS)
    assert set(statuses) == {200}
    # In the end the one that came has all sessions.
    assert {ask(place) for place in places} == {200}
    assert converted(third) == SESSIONS


def wait_for_answers(statuses: list[int], count: int) -> None:
    """Until so many more have come."""
    goal = len(statuses) + count
    until(lambda: len(statuses) >= goal, 60)
