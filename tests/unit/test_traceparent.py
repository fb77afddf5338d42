"""The header `traceparent`, by the rules of W3C Trace Context, level 1."""

from __future__ import annotations

import re

import pytest

from loader.traces import Trace
from server.tracing.header import next_trace, read_traceparent, write_traceparent

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
SPAN = "00f067aa0ba902b7"
VALID = f"00-{TRACE}-{SPAN}-01"


def test_a_valid_header_is_taken() -> None:
    assert read_traceparent([VALID]) == Trace(TRACE, SPAN, is_sampled=True)


@pytest.mark.parametrize(
    ("flags", "is_sampled"), [("00", False), ("01", True), ("02", False), ("ff", True)]
)
def test_the_lowest_flag_says_whether_spans_are_kept(flags: str, is_sampled: bool) -> None:
    assert read_traceparent([f"00-{TRACE}-{SPAN}-{flags}"]) == Trace(TRACE, SPAN, is_sampled)


@pytest.mark.parametrize("more", ["", "-what-comes-later"])
def test_later_versions_may_say_more(more: str) -> None:
    assert read_traceparent([f"cc-{TRACE}-{SPAN}-01{more}"]) == Trace(TRACE, SPAN, is_sampled=True)


@pytest.mark.parametrize(
    "header",
    [
        "",
        "00",
        f"00-{TRACE}-{SPAN}",
        f"00-{TRACE}-{SPAN}-1",
        f"00-{TRACE}-{SPAN}-01-",
        f"00-{TRACE}-{SPAN}-01-more",
        f"cc-{TRACE}-{SPAN}-01.more",
        f"ff-{TRACE}-{SPAN}-01",
        f"00-{TRACE.upper()}-{SPAN}-01",
        f"00-{TRACE[1:]}-{SPAN}-01",
        f"00-{TRACE}0-{SPAN}-01",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f" {VALID}",
        f"{VALID}\n",
        f"00-{TRACE[:-1]}g-{SPAN}-01",
        f"cc-{TRACE}-{SPAN}-01-{'x' * 1000}",
    ],
)
def test_what_is_not_valid_counts_as_absent(header: str) -> None:
    assert read_traceparent([header]) is None


def test_two_headers_count_as_none() -> None:
    assert read_traceparent([VALID, VALID]) is None
    assert read_traceparent([]) is None


def test_what_is_written_is_read_again() -> None:
    for is_sampled in (False, True):
        trace = Trace(TRACE, SPAN, is_sampled)
        assert read_traceparent([write_traceparent(trace)]) == trace


def test_the_next_span_stays_in_the_trace_and_a_new_trace_is_valid() -> None:
    parent = Trace(TRACE, SPAN, is_sampled=True)
    child = next_trace(parent)
    assert (child.trace_id, child.is_sampled) == (TRACE, True)
    assert child.span_id != SPAN
    new = next_trace()
    assert re.fullmatch("[0-9a-f]{32}", new.trace_id)
    assert not new.is_sampled
    assert new.trace_id != next_trace().trace_id
    assert read_traceparent([write_traceparent(new)]) == new
