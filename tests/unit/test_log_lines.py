"""Log lines: JSON, in the trace of whoever writes them, and as Google's Cloud Logging reads them."""

from __future__ import annotations

import io
import json
import logging
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import anyio
import anyio.to_thread
import pytest

from loader.traces import Trace, current_trace, enter_trace, in_same_trace
from server.machine.logs import configure_logs

TRACE = Trace("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7", is_sampled=True)
OTHER = Trace("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331")
TOKEN = "xph_" + "A" * 43


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    """Where the logs go, instead of where pytest has them go."""
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    yield io.StringIO()
    root.handlers = handlers
    root.setLevel(level)


def lines(stream: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def in_trace(trace: Trace, message: str) -> None:
    async def work() -> None:
        enter_trace(trace)
        await anyio.to_thread.run_sync(logging.getLogger("t").info, message)

    anyio.run(work)


def test_lines_of_a_request_name_its_trace_and_others_name_none(stream: io.StringIO) -> None:
    configure_logs("info", stream)
    in_trace(TRACE, "first")
    in_trace(OTHER, "second")
    logging.getLogger("t").info("third")
    first, second, third = lines(stream)
    assert (first["event"], first["trace_id"], first["span_id"]) == (
        "first",
        TRACE.trace_id,
        TRACE.span_id,
    )
    assert second["trace_id"] == OTHER.trace_id
    assert "trace_id" not in third


def test_a_pools_thread_works_in_the_trace_of_who_asked_it() -> None:
    seen: list[Trace | None] = []
    with ThreadPoolExecutor(1) as pool:

        def ask(trace: Trace) -> None:
            enter_trace(trace)
            pool.submit(in_same_trace(lambda: seen.append(current_trace()))).result()

        for trace in (TRACE, OTHER):
            thread = threading.Thread(target=ask, args=(trace,))
            thread.start()
            thread.join()
        pool.submit(lambda: seen.append(current_trace())).result()
    assert seen == [TRACE, OTHER, None]


def test_lines_for_cloud_logging_have_its_fields(stream: io.StringIO) -> None:
    configure_logs("info", stream, google_project="my-project")
    in_trace(TRACE, "hello")
    logging.getLogger("t").error("no request")
    line, other = lines(stream)
    assert line["severity"] == "INFO"
    assert line["message"] == "hello"
    assert str(line["time"]).endswith("Z")
    assert line["logging.googleapis.com/trace"] == f"projects/my-project/traces/{TRACE.trace_id}"
    assert line["logging.googleapis.com/spanId"] == TRACE.span_id
    assert line["logging.googleapis.com/trace_sampled"] is True
    assert line["trace_id"] == TRACE.trace_id
    assert not {"level", "event", "timestamp", "httpRequest"} & line.keys()
    assert other["severity"] == "ERROR"
    assert "logging.googleapis.com/trace" not in other


def test_a_request_becomes_cloud_loggings_request_without_its_token(stream: io.StringIO) -> None:
    configure_logs("info", stream, google_project="my-project")
    extra = {"method": "GET", "path": f"/s/{TOKEN}/x", "status": 404, "milliseconds": 1234}
    logging.getLogger("t").info("request", extra=extra)
    (line,) = lines(stream)
    request = line["httpRequest"]
    assert isinstance(request, dict)
    assert TOKEN not in stream.getvalue()
    assert request.pop("requestUrl").startswith("/s/xph_")
    assert request == {"requestMethod": "GET", "status": 404, "latency": "1.234s"}


def test_a_fault_keeps_its_traceback_in_one_line(stream: io.StringIO) -> None:
    configure_logs("info", stream, google_project="my-project")
    try:
        raise ValueError(TOKEN)
    except ValueError:
        logging.getLogger("t").exception("it failed")
    (line,) = lines(stream)
    assert "Traceback" in str(line["exception"])
    assert TOKEN not in stream.getvalue()
