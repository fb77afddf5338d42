"""Workers that are told to end while they convert: they finish, or hand over, and nobody sees an error."""

from __future__ import annotations

import asyncio
import re
import signal
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import psutil
import redis

from server.fleet.addresses import WorkerAddresses
from tests.services.cluster import Answer, Cluster, conversions, get
from tests.services.hub import HubProcess
from tests.services.pair import until
from tests.services.redis import RedisServer

GRACE_SECONDS = 10.0
"""What Cloud Run gives a process from SIGTERM to SIGKILL."""
TRACE = "data?tag=trace_viewer@&host=ALL_HOSTS&resolution=8000"


def child_of(worker: HubProcess) -> psutil.Process | None:
    """The conversion's process, if there is one: the zygote's child."""
    for zygote in psutil.Process(worker.process.popen.pid).children():
        for child in zygote.children():
            return child
    return None


def first_child(worker: HubProcess) -> psutil.Process:
    """The conversion's process, as soon as there is one."""
    found: list[psutil.Process] = []

    def look() -> bool:
        child = child_of(worker)
        if child is not None:
            found.append(child)
        return child is not None

    until(look, 60)
    return found[0]


def place_for(cluster: Cluster, session: Path, worker: HubProcess, other: HubProcess) -> str:
    """A new session, for which one worker is asked before the other."""
    addresses = WorkerAddresses([worker.url, other.url])
    number = 0
    while True:
        name = f"session{number}"
        place = f"gs://{cluster.bucket}/runs/r/plugins/profile/{name}"
        if asyncio.run(addresses.ranked(place))[0] == worker.url:
            return cluster.upload(session, name)
        number += 1


def retries(front: HubProcess) -> int:
    text = get(f"{front.url}/metrics").body.decode()
    (count,) = re.findall(r"^xprof_hub_worker_retries_total ([\d.]+)$", text, re.M)
    return int(float(count))


def leases(server: RedisServer) -> list[object]:
    with redis.Redis.from_url(server.url) as client:
        return list(client.scan_iter("xprof-hub:lease:*"))


@contextmanager
def ends_of_leases(server: RedisServer) -> Iterator[set[str]]:
    """How leases end while this lasts, known afterwards: `del` when they are given back, else `expired`."""
    ends: set[str] = set()
    with redis.Redis.from_url(server.url, decode_responses=True) as client:
        client.config_set("notify-keyspace-events", "Egx")
        with client.pubsub() as heard:
            heard.psubscribe("__keyevent@0__:*")
            yield ends
            while message := heard.get_message(timeout=1.0):
                if str(message["data"]).startswith("xprof-hub:lease:"):
                    ends.add(str(message["channel"]).rpartition(":")[2])
        client.config_set("notify-keyspace-events", "")
    ends.discard("expire")


def kept_alive(hub: HubProcess) -> socket.socket:
    """A connection on which one request was answered; reading from it waits for its end."""
    host, port = hub.url.removeprefix("http://").split(":")
    connection = socket.create_connection((host, int(port)), timeout=30)
    connection.sendall(f"GET /healthz HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
    received = b""
    while not received.endswith(b"}"):
        received += connection.recv(4096)
    assert received.startswith(b"HTTP/1.1 200")
    return connection


def test_a_conversion_goes_to_another_worker_when_the_time_is_over(
    cluster: Cluster, demo_session: Path, redis_server: RedisServer, tmp_path: Path
) -> None:
    data = tmp_path / "ending"
    ending = cluster.worker(XPROF_HUB_STOP_SECONDS="1", XPROF_HUB_DATA_DIR=str(data))
    other = cluster.worker()
    front = cluster.front(ending, other)
    place = place_for(cluster, demo_session, ending, other)
    base = cluster.share(front, place)
    with ThreadPoolExecutor(1) as pool, ends_of_leases(redis_server) as ends:
        waiting = pool.submit(get, f"{base}/{TRACE}")
        first_child(ending).suspend()  # It would run for longer than anybody waits.
        time.sleep(2.5)  # An answer that began without being there: the front end hears beats.
        assert len(leases(redis_server)) == 1
        main = psutil.Process(ending.process.popen.pid)
        processes = main.children(recursive=True)
        told = time.monotonic()
        ending.process.popen.send_signal(signal.SIGTERM)
        first_child(other)
        begun = time.monotonic() - told
        assert ending.process.popen.wait(60) == 0
        gone = time.monotonic() - told
        answer: Answer = waiting.result(120)
    assert answer.status == 200
    assert len(answer.body) > 1_000_000
    assert retries(front) == 1
    # It had its second. Then the lease was given back; nobody had to wait until it ended by itself.
    assert begun >= 1.0
    assert gone < GRACE_SECONDS
    assert ends == {"del"}
    assert leases(redis_server) == []
    assert list((data / "scratch" / "jobs").iterdir()) == []
    assert list((data / "scratch" / "partial").iterdir()) == []
    assert [one for one in processes if one.is_running()] == []
    assert "Traceback" not in ending.log_text()


def test_a_conversion_is_finished_where_it_is_when_there_is_time(
    cluster: Cluster, demo_session: Path, redis_server: RedisServer
) -> None:
    ending = cluster.worker(XPROF_HUB_STOP_SECONDS="60")
    other = cluster.worker(XPROF_HUB_KEEP_ALIVE_SECONDS="1")
    idle, short = kept_alive(ending), kept_alive(other)
    front = cluster.front(ending, other)
    first = cluster.share(front, place_for(cluster, demo_session, ending, other))
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(get, f"{first}/{TRACE}")
        child = first_child(ending)
        child.suspend()
        ending.process.popen.send_signal(signal.SIGTERM)
        # Whoever keeps a connection to it hears at once; the other one's ends after its second.
        assert (idle.recv(1), short.recv(1)) == (b"", b"")
        # Nothing new is begun there: the same session's other tool is made elsewhere.
        assert get(f"{first}/data?tag=overview_page&host=ALL_HOSTS").status == 200
        assert conversions(other) == {("overview_page", "profile"): 1}
        child.resume()
        assert waiting.result(120).status == 200
    assert ending.process.popen.wait(60) == 0
    assert conversions(other) == {("overview_page", "profile"): 1}
    assert leases(redis_server) == []
