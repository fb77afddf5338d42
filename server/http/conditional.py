"""Conditional requests (RFC 9110, 13.1.2).

`*` is not understood: it asks whether there is anything at this address, which is known only after the work
that a 304 would save. Its sender gets the whole answer, whatever that is.
"""

from __future__ import annotations


def holds_etag(if_none_match: str | None, etag: str) -> bool:
    """Whether one of the tags that the browser holds is this one."""
    if if_none_match is None:
        return False
    tags = [tag.strip().removeprefix("W/") for tag in if_none_match.split(",")]
    return etag in tags
