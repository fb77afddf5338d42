"""The disk that conversions work on, as they need it; `loader.intake.scratch` is one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from loader.storage.base import StoredFile, ignore


class Workspace(Protocol):
    """Disk space for downloads and for running conversions (loader.intake.scratch)."""

    def fetch(
        self,
        files: Sequence[StoredFile],
        wrote: Callable[[int], None] = ignore,
        moved: Callable[[int], None] = ignore,
    ) -> AbstractContextManager[list[Path]]:
        """The files on this disk, in the order asked for, kept while the context lasts.

        Args:
            files: what to fetch.
            wrote: told of every so many bytes that have come, from any thread; what it raises ends that.
            moved: told of the bytes of each file that storage was asked for, as it was not here yet.
        """

    def job_directory(self) -> AbstractContextManager[Path]:
        """A private directory for one job."""

    def hold(self, directory: Path, size: int) -> None:
        """Counts so many more bytes that lie in a job's directory, until that is removed.

        Raises:
            LoaderError: TOO_LARGE when they can never fit, BUSY when they don't now.
        """
