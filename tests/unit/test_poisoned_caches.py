"""What somebody else wrote into a shared cache is no answer, and fails nobody.

Whoever can write there can show wrong figures. He must not get further than that: to a page that runs, or to
an error that stays as long as the value does.
"""

from __future__ import annotations

import json
import struct
import time
from io import BytesIO

import pytest

from loader.caches.results import ResultHeader, StoredError, read_header
from loader.coordination.progress import Phase, Progress

_GOOD = {
    "content_type": "application/json",
    "size": 3,
    "raw_size": 5,
    "warnings": ["3 of 4 hosts"],
    "error": None,
    "digest": "ab",
    "is_final": True,
}
_FAILURE = {"code": "malformed", "message": "It ends too early.", "file": None}


def _read(text: bytes) -> ResultHeader:
    return read_header(BytesIO(struct.pack(">I", len(text)) + text))


def test_what_we_write_is_read() -> None:
    header = _read(json.dumps(_GOOD).encode())
    assert (header.size, header.warnings) == (3, ("3 of 4 hosts",))
    failure = _read(json.dumps({**_GOOD, "error": _FAILURE}).encode()).error
    assert failure == StoredError("malformed", "It ends too early.", None)


@pytest.mark.parametrize(
    "change",
    [
        {"content_type": 5},
        {"content_type": "text/html\r\nSet-Cookie: a=b"},
        {"content_type": "text/html; charset=utf-8"},
        {"content_type": "☃/x"},
        {"size": "3"},
        {"size": -1},
        {"size": 1.5},
        {"size": True},
        {"raw_size": None},
        {"raw_size": float("nan")},
        {"warnings": 5},
        {"warnings": [1]},
        {"digest": ["ab"]},
        {"error": [1]},
        {"error": {**_FAILURE, "code": "no such code"}},
        {"error": {**_FAILURE, "code": 5}},
        {"error": {**_FAILURE, "message": {"a": 1}}},
        {"error": {**_FAILURE, "file": [1]}},
        {"error": {**_FAILURE, "more": 1}},
        {"more": 1},
    ],
)
def test_a_header_with_anything_else_is_none(change: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"."):
        _read(json.dumps({**_GOOD, **change}).encode())


@pytest.mark.parametrize("text", [b"", b"5", b"null", b"[]", b"\xff", b"[" * 100_000])
def test_what_is_no_header_is_none(text: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        _read(text)


@pytest.mark.parametrize(
    "text",
    [
        b"5",
        b"[" * 100_000,
        b'{"phase": "wait"}',
        b'{"phase": "x", "started": 1, "ahead": 0, "done_bytes": 0, "total_bytes": 0}',
        b'{"phase": "wait", "started": NaN, "ahead": 0, "done_bytes": 0, "total_bytes": 0}',
        b'{"phase": "wait", "started": 1e999, "ahead": 0, "done_bytes": 0, "total_bytes": 0}',
        b'{"phase": "wait", "started": 1, "ahead": 1e999, "done_bytes": 0, "total_bytes": 0}',
        b'{"phase": "wait", "started": [1], "ahead": 0, "done_bytes": 0, "total_bytes": 0}',
    ],
)
def test_a_progress_with_anything_else_is_none(text: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        Progress.from_json(text)
    good = Progress(Phase.WAIT, time.time(), 3)
    assert Progress.from_json(good.to_json()) == good
