"""Which files of the scratch are in use, by which living process.

A pin is one file for all the files of one fetch: it lists their keys and sizes, and whoever uses them holds
it locked. That costs one open file however many profiles there are, and the kernel lets go of it when a
process dies. Pins are added and read only under the scratch's lock; letting go of one needs no lock.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from loader.disk import remove_if_unlocked
from loader.storage.destination import write_at


@dataclass(frozen=True)
class Pin:
    """Keeps the files of one fetch.

    Attributes:
        path: the list of the files.
        descriptor: holds its lock.
    """

    path: Path
    descriptor: int

    def release(self) -> None:
        """Lets go of the files, once."""
        try:
            self.path.unlink(missing_ok=True)
        finally:
            os.close(self.descriptor)


class Pins:
    """The pins of all processes that share a scratch.

    Args:
        directory: made if missing; nothing else may write there.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)

    def add(self, sizes: Mapping[str, int]) -> Pin:
        """Pins files, whether they are there already or not. The scratch's lock must be held.

        Args:
            sizes: bytes by key.

        Raises:
            OSError: the list can't be written; nothing is left of it.
        """
        descriptor, name = tempfile.mkstemp(dir=self._directory)
        pin = Pin(Path(name), descriptor)
        with ExitStack() as unless_added:
            unless_added.callback(pin.release)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            lines = "".join(f"{key} {size}\n" for key, size in sizes.items())
            write_at(descriptor, lines.encode(), 0)
            unless_added.pop_all()
        return pin

    def sizes(self) -> dict[str, int]:
        """Bytes by key of all that is in use; removes what dead processes left. Needs the lock."""
        found: dict[str, int] = {}
        for path in self._directory.iterdir():
            if remove_if_unlocked(path):
                continue
            try:
                lines = path.read_text().splitlines()
            except FileNotFoundError:
                continue  # let go of just now
            for key, size in (line.split() for line in lines):
                found[key] = int(size)
        return found
