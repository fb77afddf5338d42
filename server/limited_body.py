"""Reading a request's body up to a limit, also when it doesn't say its length."""

from __future__ import annotations

from fastapi import Request

MAX_BODY_BYTES = 1 << 20
"""Most bytes of a request to the API or to a worker."""


class BodyTooLargeError(Exception):
    """The body is longer than the limit; the rest of it was not read."""


async def read_limited_body(request: Request) -> bytes:
    """The whole body.

    Raises:
        BodyTooLargeError: as soon as it is too long.
    """
    pieces: list[bytes] = []
    size = 0
    async for piece in request.stream():
        size += len(piece)
        if size > MAX_BODY_BYTES:
            raise BodyTooLargeError
        pieces.append(piece)
    return b"".join(pieces)
