"""How far the work on an answer is, for the person who waits for it.

Whoever works posts on a board under the key of the answer (`loader.keys.result_key`), and the front end reads
there. What is posted is never needed for an answer: it may be late or missing, and it ends by itself, so that
a dead worker seems busy for a few seconds only. Nothing here may fail a conversion.
"""

from __future__ import annotations

import json
import logging
import math
import os
import time
import uuid
from collections.abc import Callable
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol

PROGRESS_FOLDER = "progress"
"""In the data directory, which front end and worker of one machine share."""
ENTRY_SECONDS = 6.0
"""How long an entry stays when nobody posts it again."""
_KEY_LENGTH = 64
_SWEEP_SECONDS = 3600.0
logger = logging.getLogger(__name__)


class Phase(StrEnum):
    """What is being done for an answer."""

    WAIT = "wait"
    """Other conversions go first."""
    DOWNLOAD = "download"
    INSPECT = "inspect"
    CONVERT = "convert"


@dataclass(frozen=True)
class Progress:
    """The state of the work on one answer.

    Attributes:
        phase: what is being done now.
        started: Unix seconds when the work on this answer began.
        ahead: while waiting, how many others that wait are served before.
        done_bytes: of `total_bytes`, how many this phase has dealt with; 0 where nobody can say.
        total_bytes: bytes of the chosen profiles, or of what is read in their place.
    """

    phase: Phase
    started: float
    ahead: int = 0
    done_bytes: int = 0
    total_bytes: int = 0

    def to_json(self) -> str:
        """As it lies on a board."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str | bytes) -> Progress:
        """Reads `to_json`'s text.

        Raises:
            ValueError: it is something else.
        """
        try:
            row = json.loads(text)
            progress = cls(
                Phase(row["phase"]),
                float(row["started"]),
                int(row["ahead"]),
                int(row["done_bytes"]),
                int(row["total_bytes"]),
            )
        except (KeyError, TypeError, OverflowError, RecursionError) as problem:
            raise ValueError(f"not a progress: {problem}") from problem
        if not math.isfinite(progress.started):
            raise ValueError("not a progress: it began at no time")
        return progress


class ProgressBoard(Protocol):
    """Where work is announced. A board that is out of order shows nothing and raises nothing."""

    def post(self, key: str, progress: Progress) -> None:
        """Shows the state for `ENTRY_SECONDS`, in place of what was shown before."""

    def clear(self, key: str) -> None:
        """Shows nothing any more."""

    def read(self, key: str) -> Progress | None:
        """What was posted last, unless its time is over."""


class DirectoryProgress:
    """A board in a directory, for the processes of one machine.

    Args:
        directory: made if missing; nothing else may write there.
        clock: Unix seconds.
    """

    def __init__(self, directory: Path, clock: Callable[[], float] = time.time) -> None:
        self._directory = directory
        self._clock = clock
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._remove_old()

    def post(self, key: str, progress: Progress) -> None:
        """See `ProgressBoard.post`."""
        path = self._path(key)
        draft = path.with_name(f".{uuid.uuid4().hex}")
        try:
            draft.write_text(progress.to_json())
            now = self._clock()
            os.utime(draft, (now, now))
            draft.replace(path)
        except OSError as problem:
            logger.info("progress could not be posted: %s", problem)
            draft.unlink(missing_ok=True)

    def clear(self, key: str) -> None:
        """See `ProgressBoard.clear`."""
        try:
            self._path(key).unlink(missing_ok=True)
        except OSError as problem:
            logger.info("progress could not be cleared: %s", problem)

    def read(self, key: str) -> Progress | None:
        """See `ProgressBoard.read`."""
        try:
            with self._path(key).open("rb") as source:
                if os.fstat(source.fileno()).st_mtime < self._clock() - ENTRY_SECONDS:
                    return None
                return Progress.from_json(source.read())
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as problem:
            logger.info("progress could not be read: %s", problem)
            return None

    def _path(self, key: str) -> Path:
        if len(key) != _KEY_LENGTH or not key.isalnum():
            raise ValueError("progress is posted under keys of answers")
        return self._directory / key

    def _remove_old(self) -> None:
        """Removes what killed processes left."""
        for path in self._directory.iterdir():
            try:
                if path.stat().st_mtime < self._clock() - _SWEEP_SECONDS:
                    path.unlink(missing_ok=True)
            except FileNotFoundError:
                continue
