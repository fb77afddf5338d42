"""Profiles that hold a text, one for each place where a profile can hold one."""

from __future__ import annotations

from tests.wire_bytes import block, line, map_entry, number, plane

DOUBLE = b"\x11" + b"\xf0" * 8


def event(*stats: bytes) -> bytes:
    return block(4, number(1, 1) + number(2, 5_000_000) + number(3, 700) + b"".join(stats))


def stat(value: bytes) -> bytes:
    return block(4, number(1, 3) + value)


def op(value: bytes) -> bytes:
    return plane("p", line() + map_entry(4, 1, value))


def profiles(text: bytes) -> dict[str, bytes]:
    """A profile for each place where it can hold a text."""
    return {
        "plane": block(1, block(2, text) + line()),
        "line": plane("p", block(3, block(2, text))),
        "line's display name": plane("p", block(3, block(11, text))),
        "event": plane("p", line("t", event(stat(block(5, text))))),
        "event's second stat": plane("p", line("t", event(stat(number(4, 1)), stat(block(5, text))))),
        "event's text behind a double": plane("p", line("t", event(stat(DOUBLE + block(5, text))))),
        "event's text without id": plane("p", line("t", event(block(4, block(5, text))))),
        "event's text before its id": plane("p", line("t", event(block(4, block(5, text) + number(1, 3))))),
        "event with a large id": plane("p", line("t", event(block(4, number(1, 300) + block(5, text))))),
        "event with a long text": plane("p", line("t", event(stat(block(5, b"x" * 200 + text))))),
        "event of 20 KB": plane("p", line("t", event(stat(block(5, b"x" * 20_000 + text))))),
        "op": op(block(2, text)),
        "op's display name": op(block(4, text)),
        "op's stat": op(block(2, "a") + block(5, number(1, 3) + block(5, text))),
        "stat": plane("p", line() + map_entry(5, 3, block(2, text))),
        "stat's description": plane("p", line() + map_entry(5, 3, block(2, "a") + block(3, text))),
        "plane's stat": plane("p", line() + block(6, number(1, 3) + block(5, text))),
        "host": plane("p", line()) + block(4, text),
        "error": plane("p", line()) + block(2, text),
        "warning": plane("p", line()) + block(3, text),
    }  # fmt: skip
