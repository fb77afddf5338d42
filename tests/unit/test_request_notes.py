"""Where a request's time went, noted from threads too; and work that belongs to no request."""

from __future__ import annotations

import asyncio
import re

import anyio.to_thread

from loader.traces import Trace, current_trace, enter_trace
from server.tracing.background import begin_background_trace
from server.tracing.header import trace_headers
from server.tracing.notes import RequestNotes, begin_notes, current_notes, timed

TRACE = Trace("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7", is_sampled=True)


def test_times_add_up_in_the_order_in_which_they_came() -> None:
    notes = RequestNotes()
    assert notes.server_timing() == ""
    notes.add("database", 0.0012)
    notes.add("cache", 0.5)
    notes.add("database", 0.0011)
    notes.describe("cache", "miss")
    notes.describe("worker", "never asked")
    assert notes.server_timing() == "database;dur=2.3, cache;desc=miss;dur=500.0"


def test_threads_note_for_the_request_that_they_work_for() -> None:
    def work() -> None:
        with timed("listing"):
            pass

    async def request() -> str:
        notes = begin_notes()
        await anyio.to_thread.run_sync(work)
        return notes.server_timing()

    async def both() -> tuple[str, str]:
        return await asyncio.gather(request(), request())

    for timing in asyncio.run(both()):
        assert re.fullmatch(r"listing;dur=\d+\.\d", timing)
    work()  # outside of any request there is nothing to note


def test_background_work_leaves_the_request_that_began_it() -> None:
    async def background() -> tuple[Trace | None, RequestNotes | None]:
        begin_background_trace()
        return current_trace(), current_notes()

    async def request() -> None:
        enter_trace(TRACE)
        notes = begin_notes()
        (first, own), (second, _) = await asyncio.gather(background(), background())
        assert first is not None
        assert second is not None
        assert len({first.trace_id, second.trace_id, TRACE.trace_id}) == 3
        assert own is not notes
        assert current_trace() == TRACE
        assert trace_headers() == {"traceparent": f"00-{TRACE.trace_id}-{TRACE.span_id}-01"}

    asyncio.run(request())
    assert trace_headers() == {}
