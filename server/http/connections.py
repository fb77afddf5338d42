"""What one connection may cost, whoever is at its other end: nobody has been asked who he is by then.

uvicorn keeps every byte of a request's head until it is whole, and waits without end for the rest of it, for
the body of a request that was answered, and for a reader who does not read. A process has so many open files
only, so one machine could keep everybody else out. This decides by bytes and time alone: whose request it is,
and how often he may ask, is `server.limits`' matter. Bodies that somebody reads are that reader's.
"""

from __future__ import annotations

import asyncio
from typing import ClassVar

from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

_CHUNKED = 8
"""How many bytes one byte of a body may take at most; in chunks of one byte it takes six."""
_LEAST_READ_BYTES = 16 << 10
"""What a reader has to read in the time in which he may stand still."""


class UnfairRequestError(Exception):
    """A request is one that no browser, client or proxy sends."""


class GuardedConnection(HttpToolsProtocol):
    """uvicorn's connection, which ends by itself when its other end takes more than a fair share.

    Class attributes:
        head_bytes: most bytes of a request's line and headers, and of what follows a body; one piece from the
            network more may be read.
        most_headers: most headers of a request.
        most_requests: most requests that may wait for their turn; one piece from the network can hold
            thousands, of which each takes hundreds of times its bytes.
        head_seconds: how long a request's head may take from its first byte, and how long the rest of a body
            is taken that nobody reads any more.
        stalled_seconds: how long a reader may read next to nothing of what waits for him.
    """

    head_bytes: ClassVar[int] = 64 << 10
    most_headers: ClassVar[int] = 200
    most_requests: ClassVar[int] = 32
    head_seconds: ClassVar[float] = 30.0
    stalled_seconds: ClassVar[float] = 30.0

    _is_head = True
    """Whether what comes next belongs to a head, or to nothing yet."""
    _has_ended = False
    """Whether a request was whole in the piece that is being looked at."""
    _size = 0
    """Bytes of the head that has begun, or all that have come after it."""
    _body_size = 0
    """Those among them that are the body, and not what a body in chunks is wrapped in."""
    _answering: RequestResponseCycle | None = None
    """The request whose turn it is."""
    _receiving: asyncio.TimerHandle | None = None
    _sending: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Whoever says nothing at all is given the time of an idle connection."""
        super().connection_made(transport)
        self._begin_idle()

    def connection_lost(self, exc: Exception | None) -> None:
        """There is nothing to wait for any more.

        uvicorn says so to the request that came last, which need not be the one that is answered now.
        """
        self._stop_receiving()
        self._stop_sending()
        if self._answering is not None and not self._answering.response_complete:
            self._answering.disconnected = True
            self._answering.message_event.set()
        self.pipeline.clear()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Looks whether the head that these bytes belong to is still of a fair size, and in time."""
        self._has_ended = False
        super().data_received(data)
        if self.transport.is_closing():
            return
        if not self._has_ended:
            self._size += len(data)
            if self._size > self.head_bytes + _CHUNKED * self._body_size:
                self._refuse()
                return
        is_answered = self.cycle is not None and self.cycle.response_complete
        if self._has_ended:
            # Its answer may have gone out before it was whole.
            if is_answered and self.timeout_keep_alive_task is None:
                self._begin_idle()
        elif self._receiving is None and (self._is_head or is_answered):
            self._receiving = self.loop.call_later(self.head_seconds, self.transport.abort)

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header, or a field after the body, which nobody may take for one (RFC 9110, 6.5.1)."""
        if self._is_head:
            super().on_header(name, value)

    def on_body(self, body: bytes) -> None:
        """A part of the body."""
        self._body_size += len(body)
        super().on_body(body)

    def on_headers_complete(self) -> None:
        """The head is whole.

        Raises:
            UnfairRequestError: the parser makes it 400.
        """
        self._is_head = False
        self._size = self._body_size = 0
        self._stop_receiving()
        if len(self.headers) > self.most_headers or len(self.pipeline) >= self.most_requests:
            raise UnfairRequestError
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The request is whole, and the next one may come."""
        self._is_head = self._has_ended = True
        self._size = self._body_size = 0
        self._stop_receiving()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Everything is written, and some of it perhaps not on its way yet."""
        super().on_response_complete()
        if self._sending is None and self.transport.get_write_buffer_size():
            self._begin_sending()

    def pause_writing(self) -> None:
        """More waits for the reader than he takes."""
        super().pause_writing()
        self._stop_sending()
        self._begin_sending()

    def resume_writing(self) -> None:
        """He has read most of it; of an answer that is over the rest waits for him still."""
        super().resume_writing()
        self._stop_sending()
        is_over = self._answering is not None and self._answering.response_complete
        if is_over and self.transport.get_write_buffer_size():
            self._begin_sending()

    def timeout_keep_alive_handler(self) -> None:
        """Closing would wait for a reader who does not read."""
        self.transport.abort()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self._answering = cycle
        super()._start_asgi_task(cycle, app)

    def _unsupported_upgrade_warning(self) -> None:
        """Whoever asks for another protocol is answered in this one, and can't fill the log by asking."""

    def _refuse(self) -> None:
        """Ends the connection; in words where they can't get into an answer that is under way."""
        if self.cycle is None or self.cycle.response_complete:
            self.send_400_response("The head or the tail of this request is too long.")
        else:
            self.transport.abort()

    def _begin_idle(self) -> None:
        self.timeout_keep_alive_task = self.loop.call_later(
            self.timeout_keep_alive, self.timeout_keep_alive_handler
        )

    def _begin_sending(self) -> None:
        waiting = self.transport.get_write_buffer_size()
        self._sending = self.loop.call_later(self.stalled_seconds, self._go_on_sending, waiting)

    def _go_on_sending(self, waiting: int) -> None:
        """Ends the connection, unless some was read meanwhile: a piece may be long, and a line slow."""
        self._sending = None
        left = self.transport.get_write_buffer_size()
        if left > max(0, waiting - _LEAST_READ_BYTES):
            self.transport.abort()
        elif left:
            self._begin_sending()

    def _stop_receiving(self) -> None:
        if self._receiving is not None:
            self._receiving.cancel()
            self._receiving = None

    def _stop_sending(self) -> None:
        if self._sending is not None:
            self._sending.cancel()
            self._sending = None


class WorkerConnection(GuardedConnection):
    """The same at a worker: a front end reads no faster than whoever it hands the answer on to."""

    stalled_seconds = 600.0
