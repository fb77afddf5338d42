"""That a process was told to end: first it begins nothing more, later it lets go of what it still does.

Says nothing of how long that takes: who runs the process tells both moments. Asking costs nothing and takes
no lock, so that it may be done at every step of a conversion.
"""

from __future__ import annotations

import threading
from collections.abc import Callable


class Stopping:
    """How far the end of a process has come. Thread-safe; may be told from a signal's handler."""

    def __init__(self) -> None:
        """The process goes on."""
        self._begun = threading.Event()
        self._let_go = threading.Event()
        self._listeners: list[Callable[[], None]] = []

    @property
    def has_begun(self) -> bool:
        """Whether nothing new is to be begun."""
        return self._begun.is_set()

    @property
    def has_let_go(self) -> bool:
        """Whether what goes on is to be given up, for another process to do."""
        return self._let_go.is_set()

    def begin(self) -> None:
        """The process was told to end."""
        self._begun.set()

    def let_go(self) -> None:
        """Its time is over; those who asked are told, in this thread."""
        self._begun.set()
        self._let_go.set()
        for tell in self._listeners:
            tell()

    def when_letting_go(self, tell: Callable[[], None]) -> None:
        """Has something called when the time is over; must not wait for anything."""
        self._listeners.append(tell)
