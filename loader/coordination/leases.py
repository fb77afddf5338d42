"""The right to do a piece of work that others may want to do at the same moment.

A lease saves work. What it protects beyond that is told by its token, a number that grows with every lease of
the same name: who holds an old one may have been replaced, and must then not undo what its successor did.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from typing import Protocol

LOOK_SECONDS = 0.2
"""How often one who waits for a thread of its own process looks whether it still has to."""


class Lease(Protocol):
    """The right to do one piece of work."""

    @property
    def token(self) -> int:
        """Larger than those of all earlier leases of the same name."""

    @property
    def is_lost(self) -> bool:
        """Whether another is known to have taken over; costs nothing."""

    @property
    def is_wanted(self) -> bool:
        """Whether a person is known to wait for the work in another process; costs nothing."""

    def confirm(self) -> bool:
        """Asks now whether nobody has taken over."""

    def release(self) -> None:
        """Lets the next one in."""


class Leases(Protocol):
    """Gives leases."""

    def acquire(
        self, name: str, done: Callable[[], bool], check_wait: Callable[[], None] = lambda: None
    ) -> Lease | None:
        """Waits for the lease; None when `done` says that the work has been done by another meanwhile.

        Args:
            name: of the work.
            done: asked while waiting.
            check_wait: called often while waiting; what it raises ends the waiting.
        """

    def want(self, name: str) -> None:
        """Tells a holder in another process that a person waits now; to be repeated every few seconds."""


def unless_done(lease: Lease, done: Callable[[], bool]) -> Lease | None:
    """The lease, given back at once when the work has been done meanwhile or can't be told."""
    try:
        finished = done()
    except BaseException:
        lease.release()
        raise
    if finished:
        lease.release()
        return None
    return lease


class ProcessLeases:
    """Leases among the threads of one process."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._held: set[str] = set()
        self._tokens = itertools.count(1)

    def acquire(
        self, name: str, done: Callable[[], bool], check_wait: Callable[[], None] = lambda: None
    ) -> Lease | None:
        """See `Leases.acquire`."""
        while not self._take(name):
            check_wait()
        return unless_done(_ProcessLease(next(self._tokens), lambda: self._release(name)), done)

    def want(self, name: str) -> None:
        """See `Leases.want`: there is no other process."""

    def _take(self, name: str) -> bool:
        """Whether the lease is the caller's now; waits a moment for it."""
        with self._changed:
            if name in self._held:
                self._changed.wait(LOOK_SECONDS)
            if name in self._held:
                return False
            self._held.add(name)
            return True

    def _release(self, name: str) -> None:
        with self._changed:
            self._held.discard(name)
            self._changed.notify_all()


class _ProcessLease:
    """Never lost: it ends with its process."""

    is_lost = False
    is_wanted = False

    def __init__(self, token: int, release: Callable[[], None]) -> None:
        self.token = token
        self.release = release

    def confirm(self) -> bool:
        """See `Lease.confirm`."""
        return True
