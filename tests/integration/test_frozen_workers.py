"""Workers that stand still without ending, as on a frozen machine, beside one that goes on."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import psutil

from server.fleet.addresses import WorkerAddresses
from tests.integration.test_cluster import busy_worker
from tests.services.cluster import Cluster, conversions, get
from tests.services.engine import CORPUS
from tests.services.hub import HubProcess, copy_of
from tests.services.pair import until
from tests.services.pause import paused_engine

OVERVIEW = "data?tag=overview_page&host=ALL_HOSTS"
OPS = "data?tag=hlo_stats&host=ALL_HOSTS"
TRACE = "data?tag=trace_viewer@&host=ALL_HOSTS&resolution=8000"
NOTICED_SECONDS = 60.0
"""A front end notices after 8 s; the rest is for the answer on a busy machine. A frozen one never answers."""


@contextmanager
def frozen(worker: HubProcess) -> Iterator[None]:
    """The worker and all its processes stand still while this lasts."""
    main = psutil.Process(worker.process.popen.pid)
    processes = [main, *main.children(recursive=True)]
    for process in processes:
        process.suspend()
    try:
        yield
    finally:
        for process in processes:
            if process.is_running():
                process.resume()


def favourite(workers: Sequence[HubProcess], places: Sequence[str]) -> HubProcess:
    """The worker that is asked first for most of the sessions."""
    addresses = WorkerAddresses([worker.url for worker in workers])
    first = Counter(asyncio.run(addresses.ranked(place))[0] for place in places)
    ((url, _),) = first.most_common(1)
    return next(worker for worker in workers if worker.url == url)


def retries(front: HubProcess) -> int:
    text = get(f"{front.url}/metrics").body.decode()
    (count,) = re.findall(r"^xprof_hub_worker_retries_total ([\d.]+)$", text, re.M)
    return int(float(count))


def events(trace: bytes) -> list[str]:
    """What a trace shows, in an order of its own: XProf reads hosts in parallel."""
    return sorted(json.dumps(event, sort_keys=True) for event in json.loads(trace)["traceEvents"])


def converting(worker: HubProcess) -> bool:
    """Whether the worker has a conversion's child."""
    return len(psutil.Process(worker.process.popen.pid).children(recursive=True)) >= 2


def test_sessions_of_an_idle_worker_that_froze_are_answered_by_the_other(
    cluster: Cluster, small_session: Path
) -> None:
    workers = cluster.worker(), cluster.worker()
    front = cluster.front(*workers)
    places = [cluster.upload(small_session, f"session{number}") for number in range(4)]
    bases = [cluster.share(front, place) for place in places]
    victim = favourite(workers, places)
    expected = {query: get(f"{bases[0]}/{query}").body for query in (OVERVIEW, OPS)}

    def ask(query: str) -> float:
        """Seconds until all sessions have answered, rightly."""
        began = time.monotonic()
        with ThreadPoolExecutor(len(bases)) as pool:
            answers = list(pool.map(lambda base: get(f"{base}/{query}"), bases))
        assert [answer.status for answer in answers] == [200] * len(bases), answers[0].body
        assert {answer.body for answer in answers} == {expected[query]}
        return time.monotonic() - began

    with frozen(victim):
        assert ask(OVERVIEW) < NOTICED_SECONDS
        noticed = retries(front)
        assert noticed > 0
        assert ask(OPS) < NOTICED_SECONDS
        # Nobody waits for it again while it is passed over.
        assert retries(front) == noticed
    assert ask(OVERVIEW) < NOTICED_SECONDS


def test_a_worker_that_freezes_while_it_converts_is_replaced_and_spoils_nothing(
    cluster: Cluster, demo_session: Path, tmp_path: Path
) -> None:
    # Two hosts of four: enough to be seen at work, and half to compare.
    session = copy_of(demo_session, tmp_path / "two hosts")
    for path in sorted(session.iterdir())[2:]:
        path.unlink()
    workers = cluster.worker(), cluster.worker()
    front = cluster.front(*workers)
    reference = cluster.front(cluster.worker())
    other = cluster.share(reference, cluster.upload(session, "other"))
    expected = events(get(f"{other}/{TRACE}").body)
    base = cluster.share(front, cluster.upload(session))
    with ThreadPoolExecutor(4) as pool:
        waiting = [pool.submit(get, f"{base}/{TRACE}") for _ in range(4)]
        victim = busy_worker(workers)
        (survivor,) = (worker for worker in workers if worker is not victim)
        with frozen(victim):
            answers = [one.result(120) for one in waiting]
    assert [answer.status for answer in answers] == [200] * 4
    (trace,) = {answer.body for answer in answers}
    assert events(trace) == expected
    assert conversions(survivor) == {("trace_viewer@", "profile"): 1}
    # Awake again, it finds that another was faster, and has the same answer.
    until(lambda: not converting(victim))
    for asked in (victim, survivor):
        alone = cluster.front(asked)
        assert get(f"{base.replace(front.url, alone.url)}/{TRACE}").body == trace


def test_a_slow_worker_that_lives_is_waited_for(cluster: Cluster, small_session: Path) -> None:
    workers = cluster.worker(), cluster.worker()
    front = cluster.front(*workers)
    base = cluster.share(front, cluster.upload(small_session))
    with ThreadPoolExecutor(1) as pool, paused_engine(workers[0]), paused_engine(workers[1]):
        waiting = pool.submit(get, f"{base}/{OVERVIEW}")
        time.sleep(10)  # longer than a silent one is
        assert not waiting.done()
    assert waiting.result().status == 200
    assert retries(front) == 0


def test_a_failure_that_comes_late_is_told_as_it_is(cluster: Cluster, tmp_path: Path) -> None:
    session = tmp_path / "endless"
    session.mkdir()
    # 2^22 calls of one computation in another: it would take hours.
    content = (CORPUS / "hlo_call_fan_2pow22.xplane.pb").read_bytes()
    (session / "fan.xplane.pb").write_bytes(content)
    front = cluster.front(cluster.worker(XPROF_HUB_CONVERSION_SECONDS="4"))
    answer = get(f"{cluster.share(front, cluster.upload(session))}/{OVERVIEW}")
    assert answer.status == 504
    problem = answer.json()
    assert isinstance(problem, dict)
    assert problem["error"]["status"] == "DEADLINE_EXCEEDED"
    assert "overview_page" in problem["error"]["message"]
    assert retries(front) == 0
