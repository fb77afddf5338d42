"""Small answers, read from a store in one go.

Most answers are small, and handing on pieces takes a change of threads for each, which costs a front end more
than reading them. So whoever looks for an answer takes a small one along at once; larger ones stay where they
are and go out in pieces (`server.xprof.bodies`).
"""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from loader.caches.results import OpenResult, ResultStore, close_pieces
from server.encodings import IDENTITY, recode
from server.xprof.bodies import Body

MOST_BYTES = 256 << 10
"""Of a stored body that is read at once: as much as Redis is asked for at first."""
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Found:
    """An answer, or a failure, that a store has.

    Attributes:
        result: as the store gave it; read and closed already if `whole` is there.
        whole: the stored body; None for a failure, and for one that is too large to be read at once.
    """

    result: OpenResult
    whole: bytes | None


def look_up(results: ResultStore, key: str) -> Found | None:
    """What the store has under a key; None also for a small answer that breaks off. Blocks."""
    result = results.open(key)
    if result is None:
        return None
    if result.header.error is not None or result.header.size > MOST_BYTES:
        return Found(result, None)
    try:
        return Found(result, b"".join(result.pieces))
    except ConnectionError as problem:
        logger.warning("a cached result broke off: %s", problem)
        return None
    finally:
        close_pieces(result)


def whole_body(key: str, found: Found, whole: bytes) -> Body:
    """The body of an answer that was read already."""

    async def read() -> AsyncGenerator[bytes, None]:
        yield whole

    async def nothing_to_close() -> None:
        return

    return Body(key, found.result.header, read(), nothing_to_close, whole)


def parse_json(whole: bytes) -> object:
    """A small JSON answer from its stored body.

    Raises:
        ValueError, zstandard.ZstdError: it is damaged.
    """
    parsed: object = json.loads(b"".join(recode((whole,), IDENTITY)))
    return parsed
