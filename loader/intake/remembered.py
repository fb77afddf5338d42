"""Takes profiles in with one inspection of each content, however many tools are made of it.

The inspection reads the whole file in Python: half a second for 70 MB, more than all else that a worker does
itself for a conversion. What it says depends on the content alone. So it is remembered by a digest of the
very bytes that the engine is about to get, which takes a tenth of that time: a store can be made to show
other bytes under an old version (a file on a disk can be written to and its times set back), and an
inspection must never vouch for bytes that it has not seen. Metadata that different contents share is
looked at once (`loader.inspection.familiar`).
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from pathlib import Path

from loader.inspection.familiar import Familiar
from loader.inspection.limits import DEFAULT_LIMITS, InspectionLimits
from loader.inspection.result import Inspection
from loader.intake.door import take_in
from loader.intake.inspect import inspect_profile
from loader.storage.base import StoredFile

_MOST_ENTRIES = 256
_MOST_BYTES = 128 << 10
"""An inspection that holds more text would take more memory than a worker should spend on remembering it."""
_ITEM_BYTES = 64
"""About what a text takes besides its characters."""


class RememberedIntake:
    """`take_in` for a worker; thread-safe."""

    def __init__(self, limits: InspectionLimits = DEFAULT_LIMITS) -> None:
        """Remembers nothing yet.

        Args:
            limits: what a profile may hold.
        """
        self._limits = limits
        self._known: OrderedDict[str, Inspection] = OrderedDict()
        self._lock = threading.Lock()
        self._familiar = Familiar()

    def __call__(self, path: Path, file: StoredFile, target: Path) -> Inspection:
        """As `take_in`.

        Raises:
            LoaderError: as `take_in`; errors are not remembered.
        """
        return take_in(path, file, target, self._limits, self._inspect)

    def _inspect(self, path: Path, name: str, limits: InspectionLimits) -> Inspection:
        """As `inspect_profile`."""
        if path.stat().st_size > limits.file_bytes:
            return inspect_profile(path, name, limits)  # refused by its size
        with path.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        found = self._recall(digest)
        if found is None:
            found = inspect_profile(path, name, limits, self._familiar)
            if _weight(found) <= _MOST_BYTES:
                self._remember(digest, found)
        return found

    def _recall(self, digest: str) -> Inspection | None:
        with self._lock:
            if digest in self._known:
                self._known.move_to_end(digest)
            return self._known.get(digest)

    def _remember(self, digest: str, found: Inspection) -> None:
        with self._lock:
            self._known[digest] = found
            if len(self._known) > _MOST_ENTRIES:
                self._known.popitem(last=False)


def _weight(found: Inspection) -> int:
    """About how many bytes an inspection takes in memory."""
    texts = (*found.modules, *found.hostnames, *found.warnings)
    lengths = [len(text) for text in texts] + [len(repair.data) for repair in found.repairs]
    return sum(lengths) + _ITEM_BYTES * len(lengths)
