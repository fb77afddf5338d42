"""Work that nobody wants any more, and a worker that is told to end: the real engine, real processes."""

from __future__ import annotations

import json
import re
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import psutil
import pytest

from loader.engine.base import Limits
from loader.engine.xprof import XprofEngine
from loader.errors import ErrorCode, LoaderError
from loader.keys import ToolRequest
from loader.turns.order import Urgency
from server.fleet.protocol import (
    BEAT,
    BEATS_HEADER,
    TOOL_DATA_PATH,
    ToolRequestBody,
    worker_credential,
)
from tests.services.cluster import SECRET, get
from tests.services.engine import CORPUS, MakeJob
from tests.services.hub import HubFactory, HubProcess
from tests.services.pair import until

AMPLE = Limits(seconds=60, memory_bytes=4 << 30, output_bytes=1 << 30)
ENDLESS = CORPUS / "hlo_call_fan_2pow22.xplane.pb"
"""2^22 calls of one computation in another: overview_page would take hours."""


def test_a_cancelled_job_ends_with_its_child(engine: XprofEngine, make_job: MakeJob) -> None:
    engine.layers()
    assert engine.zygote_pid is not None
    zygote, cancelled = psutil.Process(engine.zygote_pid), threading.Event()
    before = set(zygote.children())
    job = make_job("overview_page", ENDLESS)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(engine.convert, job, AMPLE, cancelled)
        until(lambda: set(zygote.children()) != before)
        (child,) = set(zygote.children()) - before
        cancelled.set()
        with pytest.raises(LoaderError) as caught:
            running.result(10)
    assert caught.value.code is ErrorCode.CANCELLED
    assert not child.is_running()


@dataclass(frozen=True)
class Worker:
    """A worker with one slot, and how to ask it."""

    hub: HubProcess
    session: Path

    def body(self, tool: str, urgency: Urgency = Urgency.PERSON) -> dict[str, object]:
        hosts = None if tool == "overview_page" else ("fan",)
        request = ToolRequest((str(self.session),), tool, hosts)
        return ToolRequestBody.of(request, urgency).model_dump(mode="json")

    def ask(self, tool: str) -> httpx2.Response:
        return httpx2.post(
            self.hub.url + TOOL_DATA_PATH,
            json=self.body(tool),
            headers={"Authorization": f"Bearer {worker_credential(SECRET)}"},
            timeout=60,
            trust_env=False,
        )

    def stream(self, tool: str) -> AbstractContextManager[httpx2.Response]:
        """Asks with signs of life, and gives the answer as it comes."""
        credential = {"Authorization": f"Bearer {worker_credential(SECRET)}", BEATS_HEADER: "1"}
        return httpx2.stream(
            "POST",
            self.hub.url + TOOL_DATA_PATH,
            json=self.body(tool),
            headers=credential,
            timeout=60,
            trust_env=False,
        )

    def connect(self, tool: str, urgency: Urgency, beats: bool = False) -> socket.socket:
        """A request whose connection can be closed; with signs of life, after the first of them."""
        content = json.dumps(self.body(tool, urgency)).encode()
        address = urlsplit(self.hub.url)
        connection = socket.create_connection((address.hostname or "", address.port or 0))
        head = (
            f"POST {TOOL_DATA_PATH} HTTP/1.1\r\nHost: worker\r\nContent-Length: {len(content)}\r\n"
            f"Authorization: Bearer {worker_credential(SECRET)}\r\n"
        )
        head += f"{BEATS_HEADER}: 1\r\n\r\n" if beats else "\r\n"
        connection.sendall(head.encode() + content)
        heard = b""
        while beats and BEAT not in heard:
            heard += connection.recv(1000)
        return connection

    def children(self) -> list[psutil.Process]:
        """The conversions' processes."""
        zygotes = psutil.Process(self.hub.process.popen.pid).children()
        return [child for zygote in zygotes for child in zygote.children()]

    def waiting(self, urgency: Urgency) -> int:
        pattern = rf'^xprof_hub_conversions_waiting{{urgency="{urgency.value}"}} ([\d.]+)$'
        found = re.findall(pattern, get(f"{self.hub.url}/metrics").body.decode(), re.M)
        return int(float(found[0])) if found else 0


@pytest.fixture
def worker(hubs: HubFactory, tmp_path: Path) -> Iterator[Worker]:
    session = tmp_path / "session"
    session.mkdir()
    (session / "fan.xplane.pb").write_bytes(ENDLESS.read_bytes())
    env = {
        "XPROF_HUB_SECRET_KEY": SECRET,
        "XPROF_HUB_STORAGE_ROOTS": str(session),
        "XPROF_HUB_CONVERSIONS": "1",
        # Longer than anything else takes here: nothing waits until the conversion's time is over.
        "XPROF_HUB_STOP_SECONDS": "60",
    }
    yield Worker(hubs.start(env, only="worker"), session)


@pytest.mark.parametrize("beats", [False, True])
def test_work_ahead_of_time_ends_when_its_connection_closes(worker: Worker, beats: bool) -> None:
    connection = worker.connect("overview_page", Urgency.PREWARM, beats)
    until(lambda: bool(worker.children()))
    connection.close()
    until(lambda: not worker.children())
    cancelled = 'outcome="cancelled",source="profile",tool="overview_page"'
    # The process is gone before that is counted.
    until(lambda: cancelled in get(f"{worker.hub.url}/metrics").body.decode())
    # The slot is free again.
    assert worker.ask("memory_profile").status_code == 200


@pytest.mark.parametrize("beats", [False, True])
def test_a_persons_work_goes_on_when_the_connection_closes(worker: Worker, beats: bool) -> None:
    connection = worker.connect("overview_page", Urgency.PERSON, beats)
    until(lambda: bool(worker.children()))
    (child,) = worker.children()
    connection.close()
    time.sleep(1.5)
    assert child.is_running()
    worker.hub.kill()


def test_who_waits_in_a_worker_that_ends_is_sent_elsewhere_at_once(worker: Worker) -> None:
    connection = worker.connect("overview_page", Urgency.PERSON)
    until(lambda: bool(worker.children()))
    (child,) = worker.children()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(worker.ask, "memory_profile")
        until(lambda: worker.waiting(Urgency.PERSON) == 1)
        worker.hub.process.popen.terminate()
        answer = waiting.result(50)
    # The conversion that runs is not given up yet.
    assert child.is_running()
    child.kill()
    # Not an error of the protocol: a front end takes it for no answer and asks the next worker.
    assert (answer.status_code, answer.text) == (503, "This worker is being stopped.")
    assert worker.hub.process.popen.wait(30) == 0
    connection.close()


def test_who_was_given_signs_of_life_by_a_worker_that_ends_is_sent_elsewhere_at_once(
    worker: Worker,
) -> None:
    connection = worker.connect("overview_page", Urgency.PERSON, beats=True)
    until(lambda: bool(worker.children()))
    (child,) = worker.children()
    child.suspend()  # It holds the only slot for longer than XProf takes.
    with worker.stream("memory_profile") as answer:
        pieces = answer.iter_raw()
        heard = next(pieces)  # The answer has begun.
        until(lambda: worker.waiting(Urgency.PERSON) == 1)
        worker.hub.process.popen.terminate()
        heard += b"".join(pieces)
    assert child.is_running()
    child.kill()
    # It ends without its head, which a front end takes for no answer.
    assert answer.status_code == 200
    assert set(heard) == {0}
    assert worker.hub.process.popen.wait(30) == 0
    connection.close()
