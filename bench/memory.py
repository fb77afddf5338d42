"""Peak memory of everything that the bench has started."""

from __future__ import annotations

import threading
from types import TracebackType

import psutil

_EVERY_SECONDS = 0.1


class PeakMemory:
    """Samples the resident memory of all our descendants together while the context lasts.

    A page that several processes share counts once for each, so that a forked child looks larger than it is:
    an upper bound, the same for every server.
    """

    def __init__(self) -> None:
        self.megabytes = 0.0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> PeakMemory:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        ourselves = psutil.Process()
        while True:
            self.megabytes = max(self.megabytes, _resident_megabytes(ourselves))
            if self._ended.wait(_EVERY_SECONDS):
                return


def _resident_megabytes(ancestor: psutil.Process) -> float:
    total = 0.0
    for process in ancestor.children(recursive=True):
        try:
            total += process.memory_info().rss / 1e6
        except psutil.NoSuchProcess:
            continue  # Ended since the list was made.
    return total
