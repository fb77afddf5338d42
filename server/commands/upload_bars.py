"""Progress of an upload on a terminal: a bar for all hosts together, and one for each that is on its way."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from server.client.uploads import LocalProfile


class UploadBars:
    """The bars; safe to share between threads."""

    def __init__(self, progress: Progress, profiles: Sequence[LocalProfile]) -> None:
        self._progress = progress
        self._lock = threading.Lock()
        self._received: dict[str, int] = {}
        count = "1 host" if len(profiles) == 1 else f"{len(profiles)} hosts"
        self._all = progress.add_task(count, total=sum(_size(profile) for profile in profiles))

    def of(self, profile: LocalProfile) -> Callable[[int], None]:
        """What moves the bar of a host; it is shown from its first move until it is full."""
        size = _size(profile)
        task = self._progress.add_task(profile.host, total=size, visible=False)

        def advance(received: int) -> None:
            self._move(profile.host, task, received, received < size)

        return advance

    def _move(self, host: str, task: TaskID, received: int, is_under_way: bool) -> None:
        with self._lock:
            self._received[host] = received
            everything = sum(self._received.values())
        self._progress.update(task, completed=received, visible=is_under_way)
        self._progress.update(self._all, completed=everything)


@contextmanager
def upload_bars(profiles: Sequence[LocalProfile]) -> Iterator[UploadBars]:
    """Bars on standard error; nothing at all in a file or pipe."""
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(
        *columns,
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    ) as progress:
        yield UploadBars(progress, profiles)


def _size(profile: LocalProfile) -> int:
    return profile.path.stat().st_size
