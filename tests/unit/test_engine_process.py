"""The server's end of a zygote that is busy with other things than listening."""

from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from loader.engine.base import Job, Limits
from loader.engine.messages import EndedBy
from loader.engine.process import ZygoteProcess
from loader.errors import LoaderError

_ANSWERS_BEFORE_IT_LISTENS = """
import json, socket
from loader.engine.messages import ChildEnd, EndedBy, encode, encode_end
server = socket.socket(fileno=0)
server.sendall(encode("ready", {"layers": []}))
text = b""
while b"\\n" not in text:
    text += server.recv(1)
server.recv(1)  # the second request begins to come; it is longer than the connection can hold
server.sendall(encode_end(1, ChildEnd(EndedBy.ITSELF, log="heard")))
while server.recv(1, socket.MSG_PEEK):
    pass
"""


def job(folder: Path, hosts: int) -> Job:
    return Job(folder, tuple(f"{host:0200}" for host in range(hosts)), "overview_page")


def test_answers_are_heard_while_a_request_is_still_on_its_way(tmp_path: Path) -> None:
    zygote = ZygoteProcess([sys.executable, "-c", _ANSWERS_BEFORE_IT_LISTENS])
    with ThreadPoolExecutor(2) as pool:
        try:
            first = pool.submit(zygote.run, job(tmp_path, 1), Limits(seconds=60))
            zygote.layers()
            time.sleep(0.3)  # the first request is on its way
            second = pool.submit(zygote.run, job(tmp_path, 20_000), Limits(seconds=60))
            end = first.result(20)
            assert (end.ended_by, end.log) == (EndedBy.ITSELF, "heard")
        finally:
            zygote.kill()
        with pytest.raises(LoaderError, match="restarted"):
            second.result(20)
