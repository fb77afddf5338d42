"""One piece of work on an answer, as those who do it see it: for whom, whether to go on, and how far it is.

It ties together what `loader.coordination.flight`, `loader.coordination.leases` and
`loader.coordination.progress` know, so that a converter is handed one thing and decides nothing about any of
them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from types import TracebackType

from loader.coordination.flight import Flight, no_longer_wanted
from loader.coordination.leases import Lease
from loader.coordination.progress import Phase, Progress, ProgressBoard
from loader.errors import ErrorCode, LoaderError
from loader.stopping import Stopping
from loader.turns.order import Urgency

_FIRST_POST_SECONDS = 0.25
"""What is done before needs no progress."""
_POST_SECONDS = 0.5
_REPEAT_SECONDS = 2.0
"""How often an unchanged state is posted again, so that it does not end (`progress.ENTRY_SECONDS`)."""


class Reporter:
    """Posts the progress of one piece of work while its context lasts, at most twice a second.

    A state that is shown costs nothing until it is posted; a thread of its own does that.

    Args:
        board: where.
        key: of the answer.
        clock: Unix seconds.
    """

    def __init__(
        self, board: ProgressBoard, key: str, clock: Callable[[], float] = time.time
    ) -> None:
        self._board = board
        self._keys = [key]
        self._source: str | None = None
        self._lock = threading.Lock()
        self._state = Progress(Phase.WAIT, clock())
        self._is_shown = True
        self._posted: Progress | None = None
        self._posted_at = float("-inf")
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="progress", daemon=True)

    def __enter__(self) -> Reporter:
        """Starts the thread."""
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Shows nothing any more."""
        self._ended.set()
        self._thread.join()
        if self._posted is not None:
            for key in self._keys:
                self._board.clear(key)

    def show(
        self, phase: Phase, *, ahead: int = 0, done_bytes: int = 0, total_bytes: int = 0
    ) -> None:
        """Notes the state of the work."""
        with self._lock:
            self._source, self._is_shown = None, True
            self._state = Progress(phase, self._state.started, ahead, done_bytes, total_bytes)

    def add(self, count: int) -> None:
        """So many more bytes are done."""
        with self._lock:
            done = self._state.done_bytes + count
            self._state = replace(self._state, done_bytes=min(done, self._state.total_bytes))

    def follow(self, key: str) -> None:
        """Shows, until `show`, what another does who is waited for and posts under this key."""
        with self._lock:
            self._source, self._is_shown = key, key not in self._keys

    def also_under(self, key: str) -> None:
        """Posts under this key, too, for those who follow."""
        with self._lock:
            self._keys.append(key)

    def _keep(self) -> None:
        pause = _FIRST_POST_SECONDS
        while not self._ended.wait(pause):
            self._post()
            pause = _POST_SECONDS

    def _post(self) -> None:
        with self._lock:
            keys, state, source = list(self._keys), self._state, self._source
            if not self._is_shown:
                return  # The one who has the lease of this very answer shows more.
        if source is not None:
            other = self._board.read(source)
            state = Progress(Phase.WAIT, state.started) if other is None else other
            state = replace(state, started=self._state.started)
        now = time.monotonic()
        if state != self._posted or now - self._posted_at >= _REPEAT_SECONDS:
            for key in keys:
                self._board.post(key, state)
            self._posted, self._posted_at = state, now


class Work:
    """One piece of work on an answer.

    Args:
        flight: those who want it.
        reporter: tells them how far it is.
        stopping: whether this worker ends: what has not begun won't, and what nobody waits for is given up.
        session: what it is for.
    """

    def __init__(
        self, flight: Flight, reporter: Reporter, stopping: Stopping, session: str
    ) -> None:
        self.flight = flight
        self.session = session
        self._stopping = stopping
        self._gave_way = threading.Event()
        self.reporter = reporter
        self.lease: Lease | None = None

    @property
    def urgency(self) -> Urgency:
        """For whom it is; may become more urgent."""
        self._heed_others()
        return self.flight.urgency

    @property
    def is_lost(self) -> bool:
        """Whether another worker has taken over."""
        return self.lease is not None and self.lease.is_lost

    def is_set(self) -> bool:
        """Whether to stop: nobody wants it, another worker does it or is to, or a person needs the place."""
        # Asked whatever else is so: a person who waits elsewhere makes it theirs by this.
        is_prewarm = self.urgency is Urgency.PREWARM
        gives_way = is_prewarm and (self._gave_way.is_set() or self._stopping.has_begun)
        return gives_way or self._stopping.has_let_go or self.flight.is_cancelled or self.is_lost

    def give_way(self) -> None:
        """A person needs its place: unless a person waits for this, too, it ends."""
        self._gave_way.set()

    @property
    def may_begin_anew(self) -> bool:
        """Whether it was ended for a person only, and somebody still wants it."""
        return self._gave_way.is_set() and not self.flight.is_cancelled

    def check(self) -> None:
        """Between two steps.

        Raises:
            LoaderError: CANCELLED when to stop.
        """
        if self.is_set():
            raise no_longer_wanted()

    def check_wait(self) -> None:
        """While nothing is done yet.

        Raises:
            LoaderError: CANCELLED when to stop, BUSY when this worker ends.
        """
        self.check()
        if self._stopping.has_begun:
            raise stopping_error()

    def may_undo(self) -> bool:
        """Whether nobody has taken over, asked now: else what is there may be better than ours."""
        return self.lease is None or self.lease.confirm()

    def _heed_others(self) -> None:
        """Work that a person waits for in another worker is a person's here, too."""
        if self.lease is not None and self.lease.is_wanted:
            self.flight.promote()

    def show_waiting(self, ahead: int) -> None:
        """Others convert first."""
        self.reporter.show(Phase.WAIT, ahead=ahead)


def stopping_error() -> LoaderError:
    """The error of what a worker does not begin any more, since it was told to end."""
    return LoaderError(ErrorCode.BUSY, "This worker is being stopped.")
