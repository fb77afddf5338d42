"""Takes each version of a profile in with one inspection, however many tools are made of it.

The inspection reads the whole file: half a second for 70 MB, more than all else that a worker does itself for
a conversion. What it says depends on the content alone, and a version's content never changes. Only what
goes to the engine as it is can be remembered: a repaired or unpacked copy must be made again anyway.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from pathlib import Path

from loader.artifacts import place
from loader.inspect_limits import DEFAULT_LIMITS, InspectionLimits
from loader.inspect_result import Inspection
from loader.intake import take_in
from loader.scratch_files import disk_errors
from loader.storage.base import StoredFile
from loader.unpack import is_gzip

_MOST_ENTRIES = 256
_MOST_MODULES = 1000
"""An inspection that names more would take more memory than a worker should spend on remembering it."""


class RememberedIntake:
    """`take_in` for a worker; thread-safe."""

    def __init__(self, limits: InspectionLimits = DEFAULT_LIMITS) -> None:
        """Remembers nothing yet.

        Args:
            limits: what a profile may hold.
        """
        self._limits = limits
        self._known: OrderedDict[StoredFile, Inspection] = OrderedDict()
        self._lock = threading.Lock()

    def __call__(self, path: Path, file: StoredFile, target: Path) -> Inspection:
        """As `take_in`.

        Raises:
            LoaderError: as `take_in`; errors are not remembered.
        """
        known = self._recall(file)
        if known is not None:
            with disk_errors(file.name):
                _place_whole(path, target)
            return known
        found = take_in(path, file, target, self._limits)
        if not found.repairs and len(found.modules) <= _MOST_MODULES and not is_gzip(path):
            self._remember(file, found)
        return found

    def _recall(self, file: StoredFile) -> Inspection | None:
        with self._lock:
            if file in self._known:
                self._known.move_to_end(file)
            return self._known.get(file)

    def _remember(self, file: StoredFile, found: Inspection) -> None:
        with self._lock:
            self._known[file] = found
            if len(self._known) > _MOST_ENTRIES:
                self._known.popitem(last=False)


def _place_whole(source: Path, target: Path) -> None:
    try:
        place(source, target)
    except OSError:
        target.unlink(missing_ok=True)
        raise
