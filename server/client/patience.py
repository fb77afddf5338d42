"""How long a client goes on asking a hub that is busy, and what it says meanwhile.

Knows no request, and waits for nothing itself.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

PATIENCE_SECONDS = 30.0
"""How long one answer is waited for in all while the hub asks for that, unless a program says otherwise."""


@dataclass(frozen=True)
class Pause:
    """A wait until a busy hub is asked again.

    Attributes:
        seconds: how long.
        ahead: how many the hub serves before, or None where it has no line.
    """

    seconds: float
    ahead: int | None = None

    def __str__(self) -> str:
        """For a person: `busy, 3 ahead; trying again in 4 s`."""
        place = f", {self.ahead} ahead" if self.ahead else ""
        return f"busy{place}; trying again in {math.ceil(self.seconds)} s"


class Patience:
    """What is left of the time for one answer.

    Args:
        seconds: all of it.
    """

    def __init__(self, seconds: float) -> None:
        self._left = seconds

    def pause(self, asked: float, ahead: int | None) -> Pause | None:
        """The wait that a hub asks for; None when there is not enough time left.

        Never shorter than asked, and not the same for a thousand jobs that were sent away in the same moment.

        Args:
            asked: seconds.
            ahead: how many the hub serves before, if it says so.
        """
        if asked > self._left:
            return None
        self._left -= asked
        return Pause(asked * random.uniform(1.0, 1.25), ahead)  # noqa: S311 - no secret
