"""The header `traceparent` of W3C Trace Context, level 1: read strictly, and written.

https://www.w3.org/TR/trace-context-1/#traceparent-header. What is not valid is as good as absent.
"""

from __future__ import annotations

import re
import secrets

from loader.traces import Trace, current_trace

HEADER = "traceparent"
_VALID = re.compile(
    r"(?P<version>[0-9a-f]{2})-(?P<trace>[0-9a-f]{32})-(?P<span>[0-9a-f]{16})-(?P<flags>[0-9a-f]{2})"
    r"(?P<more>-.*)?"
)
_SAMPLED = 0x01
_LONGEST = 512


def read_traceparent(values: list[str]) -> Trace | None:
    """The caller's trace, with the caller's own span; None when no valid one was sent.

    Args:
        values: of all headers of the name; more than one counts as none.
    """
    if len(values) != 1 or len(values[0]) > _LONGEST:
        return None
    found = _VALID.fullmatch(values[0])
    if found is None or found["version"] == "ff":
        return None
    if found["version"] == "00" and found["more"] is not None:
        return None
    if not int(found["trace"], 16) or not int(found["span"], 16):
        return None
    return Trace(found["trace"], found["span"], bool(int(found["flags"], 16) & _SAMPLED))


def write_traceparent(trace: Trace) -> str:
    """The header for whoever is asked next."""
    return f"00-{trace.trace_id}-{trace.span_id}-{int(trace.is_sampled):02x}"


def trace_headers() -> dict[str, str]:
    """The headers of a request that is made on behalf of the one at hand; none outside of any."""
    trace = current_trace()
    return {} if trace is None else {HEADER: write_traceparent(trace)}


def next_trace(parent: Trace | None = None) -> Trace:
    """A new span in the caller's trace, or in one of its own."""
    if parent is None:
        return Trace(secrets.token_hex(16), secrets.token_hex(8))
    return Trace(parent.trace_id, secrets.token_hex(8), parent.is_sampled)
