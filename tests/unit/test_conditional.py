"""If-None-Match: which requests may be answered 304 without an answer being made."""

from __future__ import annotations

import pytest

from server.http.conditional import holds_etag


@pytest.mark.parametrize(
    ("header", "is_held"),
    [
        ('"a"', True),
        ('W/"a"', True),
        ('"b", "a"', True),
        ('"b",W/"a" ', True),
        (None, False),
        ("", False),
        ('"b"', False),
        ("a", False),
        # Whether there is anything that `*` could stand for is not known before the work is done.
        ("*", False),
        ('"b", *', False),
    ],
)
def test_only_the_very_tag_saves_the_answer(header: str | None, is_held: bool) -> None:
    assert holds_etag(header, '"a"') is is_held
