"""Reading what a worker sends: length-prefixed frames, then the bytes of a body.

Knows nothing of HTTP, of errors' meanings, or of what stands in a frame.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator

from server.fleet.protocol import FRAME_PREFIX


class FrameReader:
    """Reads frames one by one, and then the rest.

    Args:
        pieces: the bytes as they come, cut anywhere.
    """

    def __init__(self, pieces: AsyncIterator[bytes]) -> None:
        self._pieces = pieces
        self._buffer = b""

    async def frame(self) -> bytes:
        """The next frame that is not empty.

        Raises:
            ConnectionError: the bytes end before it does.
        """
        size = 0
        while not size:
            (size,) = FRAME_PREFIX.unpack(await self._take(FRAME_PREFIX.size))
        return await self._take(size)

    async def rest(self, size: int) -> AsyncGenerator[bytes, None]:
        """What follows; an end at another place is an error, so that nobody takes a part for the whole.

        Args:
            size: how many bytes must follow.

        Raises:
            ConnectionError: there were more or fewer.
        """
        received = len(self._buffer)
        if self._buffer:
            yield self._buffer
        async for piece in self._pieces:
            received += len(piece)
            yield piece
        if received != size:
            raise ConnectionError("the worker's answer ended too early")

    async def _take(self, size: int) -> bytes:
        while len(self._buffer) < size:
            try:
                self._buffer += await anext(self._pieces)
            except StopAsyncIteration:
                raise ConnectionError("the worker's answer ended inside its header") from None
        taken, self._buffer = self._buffer[:size], self._buffer[size:]
        return taken
