"""Answers that the shared store has lost, given back to it by a worker that still has them on its disk.

Redis restarts empty, and drops what was not asked for of late. Without this, front ends would ask the worker
for such an answer each time, as long as it lives there. Delays nobody: one copy at a time, beside the answer
that goes out; what finds another one under way is given back when it is asked for next.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from loader.caches.counted_looks import Look
from loader.caches.results import DirectoryResults, OpenResult, ResultStore

THREAD_NAME = "give-back"
logger = logging.getLogger(__name__)


class ReturnedAnswers:
    """Looks for answers on this machine, and gives those that it finds back. Thread-safe.

    Args:
        near: answers on this machine.
        far: where front ends look.
        is_failing: whether `far` is out of order, so that nothing is worth a try.
        most_bytes: of a body that `far` takes; larger ones are not copied in vain each time.
    """

    def __init__(
        self,
        near: DirectoryResults,
        far: ResultStore,
        is_failing: Callable[[], bool],
        most_bytes: int,
    ) -> None:
        self._near = near
        self._far = far
        self._is_failing = is_failing
        self._most_bytes = most_bytes
        self._one = threading.Lock()

    def looking(self, look: Look) -> Look:
        """The same look into `near`; an answer that it finds is given back."""

        def look_and_give_back(key: str) -> OpenResult | None:
            found = look(key)
            if found is not None and self._is_wanted(found) and not self._is_failing():
                self._begin(key)
            return found

        return look_and_give_back

    def _is_wanted(self, found: OpenResult) -> bool:
        return found.header.error is None and found.header.size <= self._most_bytes

    def _begin(self, key: str) -> None:
        if self._one.acquire(blocking=False):
            threading.Thread(
                target=self._give_back, args=(key,), name=THREAD_NAME, daemon=True
            ).start()

    def _give_back(self, key: str) -> None:
        try:
            if not self._far.contains(key):
                self._near.copy_to(self._far, key)
        except OSError as problem:
            logger.warning("an answer was not given back: %s", problem)
        finally:
            self._one.release()
