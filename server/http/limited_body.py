"""Reading a request's body up to a limit, also when it doesn't say its length, and for so long only."""

from __future__ import annotations

import asyncio

from fastapi import Request
from starlette.requests import ClientDisconnect

MAX_BODY_BYTES = 1 << 20
"""Most bytes of a request to the API or to a worker."""

BODY_SECONDS = 60.0
"""Longest time that such a body may take to come; larger ones have a pace of their own (`server.uploads`)."""


class BodyTooLargeError(Exception):
    """The body is longer than the limit; the rest of it was not read."""


async def read_limited_body(request: Request) -> bytes:
    """The whole body.

    Raises:
        BodyTooLargeError: as soon as it is too long.
        ClientDisconnect: the other end has gone, or is so slow that it might as well have.
    """
    pieces: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for piece in request.stream():
                size += len(piece)
                if size > MAX_BODY_BYTES:
                    raise BodyTooLargeError
                pieces.append(piece)
    except TimeoutError as problem:
        raise ClientDisconnect from problem
    return b"".join(pieces)
