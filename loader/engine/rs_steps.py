"""The other half of a conversion by xprof-rs: asks it over the one connection, and checks what it says.

Runs in a sandboxed child like XProf's own converters do, so that nobody else reads the answer before it was
found to be one.
"""

from __future__ import annotations

import socket
from pathlib import Path

from loader.engine.base import Job
from loader.engine.messages import Report
from loader.engine.rs import UnsureError, body_of, check_answer, request_for
from loader.engine.rs_doubts import doubt_memory_profile
from loader.engine.steps import JSON, RefusedError, write_answer
from loader.errors import ErrorCode
from loader.storage.base import XPLANE_SUFFIX

_PIECE = 1 << 20


def convert(job: Job, line: socket.socket, most_bytes: int) -> Report:
    """Does the job and writes its answer to `ANSWER_FILE` in the working directory.

    Raises:
        RefusedError: there is no answer that can be taken for XProf's.
    """
    try:
        line.sendall(request_for(job))
        if job.tool == "memory_profile":
            doubt_memory_profile(Path(f"{job.hosts[0]}{XPLANE_SUFFIX}"))
        body = body_of(_all_that_comes(line, most_bytes))
        check_answer(job.tool, body)
    except UnsureError as doubt:
        raise RefusedError(ErrorCode.ENGINE_REFUSED, f"xprof-rs: {doubt}") from doubt
    except ConnectionError as error:
        raise RefusedError(ErrorCode.ENGINE_REFUSED, "xprof-rs has ended") from error
    write_answer(body)
    return Report(True, content_type=JSON)


def _all_that_comes(line: socket.socket, most_bytes: int) -> bytes:
    """Everything until the other side closes.

    Raises:
        UnsureError: it is too much.
    """
    received = bytearray()
    while piece := line.recv(_PIECE):
        received += piece
        if len(received) > most_bytes:
            raise UnsureError("its answer is too large")
    return bytes(received)
