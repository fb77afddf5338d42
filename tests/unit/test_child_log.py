"""What children and the zygote say reaches the log as the worker's own lines, in the trace of the request."""

from __future__ import annotations

import logging
import sys
import time
from pathlib import Path

import pytest

from loader.engine.base import Job
from loader.engine.child_log import log_child
from loader.engine.messages import ChildEnd, EndedBy
from loader.engine.process import ZygoteProcess
from loader.errors import ErrorCode, LoaderError

JOB = Job(Path("/nowhere"), ("h0",), "hlo_stats")
CRASH = LoaderError(ErrorCode.ENGINE_CRASHED, "on purpose")
SPEAKS = """
import socket, sys
from loader.engine.messages import encode
sys.stderr.write("something is odd\\n\\nanother thing\\n")
sys.stderr.flush()
server = socket.socket(fileno=0)
server.sendall(encode("ready", {"layers": []}))
server.recv(1)
"""


def end(log: str) -> ChildEnd:
    return ChildEnd(EndedBy.ITSELF, log=log, seconds=1.25, peak_memory_bytes=64_000_000, pid=4711)


def test_a_childs_end_is_one_line_with_its_process_id(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    log_child(JOB, end("words that nobody needs"), None)
    (record,) = caplog.records
    assert (record.name, record.getMessage()) == ("xprof_hub.child", "a child ended")
    fields = {
        name: getattr(record, name)
        for name in ("pid", "tool", "outcome", "seconds", "peak_megabytes")
    }
    assert fields == {
        "pid": 4711,
        "tool": "hlo_stats",
        "outcome": "ok",
        "seconds": 1.25,
        "peak_megabytes": 64,
    }


def test_a_childs_last_words_are_text_whatever_they_look_like(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    forged = '{"event": "request", "trace_id": "4bf92f3577b34da6a3ce929d0e0e4736"}'
    words = [f"line {number}" for number in range(30)]
    log_child(JOB, end("\n".join([*words, "\x1b[31mred", forged])), CRASH)
    said = [record.getMessage() for record in caplog.records[:-1]]
    assert len(said) == 20
    assert said[-1] == f"the engine says: {forged}"
    assert "\x1b" not in said[-2]
    assert not hasattr(caplog.records[-2], "trace_id")
    assert getattr(caplog.records[-1], "outcome", "") == ErrorCode.ENGINE_CRASHED.value


def test_the_zygotes_own_words_are_lines_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    zygote = ZygoteProcess([sys.executable, "-c", SPEAKS])
    try:
        zygote.layers()
        end_of_wait = time.monotonic() + 10
        while len(caplog.records) < 2 and time.monotonic() < end_of_wait:
            time.sleep(0.01)
    finally:
        zygote.close()
    assert [record.getMessage() for record in caplog.records[:2]] == [
        "the engine's zygote says: something is odd",
        "the engine's zygote says: another thing",
    ]
