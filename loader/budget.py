"""A bound on what may be done again, or twice: so much for each time it is done, and a little more."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class Budget:
    """Earns and spends. Thread-safe.

    Args:
        share: what each ordinary time earns.
        each_second: what time earns.
        at_once: most that is saved up, and what there is at first.
        clock: seconds that only grow.
    """

    def __init__(
        self,
        share: float,
        each_second: float,
        at_once: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._share = share
        self._each_second = each_second
        self._most = at_once
        self._clock = clock
        self._lock = threading.Lock()
        self._left = at_once
        self._noted = clock()

    def earn(self) -> None:
        """It was done once more in the ordinary way. Costs less than a microsecond."""
        if self._left < self._most:
            with self._lock:
                self._left = min(self._left + self._share, self._most)

    def spend(self) -> bool:
        """Whether it may be done again; takes that away."""
        with self._lock:
            now = self._clock()
            self._left = min(self._left + (now - self._noted) * self._each_second, self._most)
            self._noted = now
            if self._left < 1:
                return False
            self._left -= 1
            return True
