"""Streamed answers that let go of what they hold, however they end."""

from __future__ import annotations

from collections.abc import AsyncIterable, Awaitable, Callable, Iterable, Mapping

import anyio
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

Close = Callable[[], Awaitable[None]]


class ClosingResponse(StreamingResponse):
    """Calls `close` at the end: also when the reader has gone, and when nothing was read at all."""

    def __init__(
        self,
        content: Iterable[bytes] | AsyncIterable[bytes],
        close: Close,
        headers: Mapping[str, str],
        media_type: str,
    ) -> None:
        super().__init__(content, headers=headers, media_type=media_type)
        self._close = close

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends the answer, then closes."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            with anyio.CancelScope(shield=True):
                await self._close()
