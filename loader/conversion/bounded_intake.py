"""The intake of one conversion's profiles, within what a conversion may take: time, memory and disk.

The sizes of profiles on the store say little of compressed ones and nothing of their events, so only what the
inspection finds can be held against the bounds. Decides which host is too much; what follows is decided in
`loader.intake.profiles`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from loader.errors import ErrorCode, LoaderError
from loader.inspection.result import Inspection
from loader.intake.profiles import Intake
from loader.plan import Plan
from loader.storage.base import StoredFile
from loader.turns.room import Room


def timed(intake: Intake, ends: float) -> Intake:
    """An intake that begins with no profile after a moment of the monotonic clock.

    One profile takes no more than some seconds, for the inspection's steps are bounded; thousands can take
    hours. It raises TIMED_OUT.
    """

    def take_in(path: Path, file: StoredFile, target: Path) -> Inspection:
        if time.monotonic() >= ends:
            raise LoaderError(
                ErrorCode.TIMED_OUT,
                "Looking through the chosen profiles took longer than a conversion may. Choose fewer hosts, "
                "capture a shorter profile, or ask for a higher time limit.",
            )
        return intake(path, file, target)

    return take_in


def bounded(intake: Intake, plan: Plan, room: Room, hold: Callable[[int], None]) -> Intake:
    """An intake that refuses a host which is too much by itself, and all when they are too much together.

    Args:
        intake: the intake itself.
        plan: what the profiles are for.
        room: knows what fits.
        hold: counts bytes that an unpacked profile takes on the disk.
    """
    unpacked = 0

    def take_in(path: Path, file: StoredFile, target: Path) -> Inspection:
        nonlocal unpacked
        found = intake(path, file, target)
        more = max(found.size - file.size, 0)
        try:
            room.require_each(plan, file, found)
            room.require_unpacked(unpacked + more)
            if more:
                hold(more)
        except LoaderError:
            target.unlink(missing_ok=True)
            raise
        unpacked += more
        return found

    return take_in
