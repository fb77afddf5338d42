"""The last listings of sessions, for questions that come every second and may be a little behind.

A page that waits asks how far its answer is, again and again; listing a bucket each time would cost more than
the answer. Only such questions may look here: answers themselves are made of what lies there now.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

from loader.catalog import SessionFiles

_SECONDS = 10.0
_MOST_HOSTS = 20_000


class RecentListings:
    """What was listed in the last seconds. Lives in one event loop.

    Args:
        seconds: how long a listing is good.
        most_hosts: of all listings together; beyond that the oldest ones are forgotten.
        clock: seconds that only grow.
    """

    def __init__(
        self,
        seconds: float = _SECONDS,
        most_hosts: int = _MOST_HOSTS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._seconds = seconds
        self._most_hosts = most_hosts
        self._clock = clock
        self._hosts = 0
        self._listings: OrderedDict[tuple[str, ...], tuple[float, SessionFiles]] = OrderedDict()

    def note(self, files: SessionFiles) -> None:
        """Keeps a listing that was just made, in place of an older one of the same session."""
        self._forget(files.locations)
        self._listings[files.locations] = (self._clock(), files)
        self._hosts += len(files.hosts)
        while self._hosts > self._most_hosts:
            self._forget(next(iter(self._listings)))

    def recall(self, locations: tuple[str, ...]) -> SessionFiles | None:
        """The session's last listing, unless it is too old."""
        noted, files = self._listings.get(locations, (0.0, None))
        if files is not None and self._clock() - noted > self._seconds:
            self._forget(locations)
            return None
        return files

    def _forget(self, locations: tuple[str, ...]) -> None:
        found = self._listings.pop(locations, None)
        if found is not None:
            self._hosts -= len(found[1].hosts)
