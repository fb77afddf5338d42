"""The one door through which a stored profile reaches the engine.

What comes in is a file of any content that others share; what goes out is a profile that the engine may read,
under the name that it shall have: unpacked, inspected and repaired, or refused with a reason. The file that
came in is never changed.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from loader.caches.artifacts import place
from loader.disk import disk_errors
from loader.errors import LoaderError
from loader.inspection.limits import DEFAULT_LIMITS, InspectionLimits
from loader.inspection.refusals import CutOffError, still_uploading
from loader.inspection.repair import apply_repairs
from loader.inspection.result import Inspection
from loader.inspection.unpack import is_gzip, unpack_gzip
from loader.intake.inspect import inspect_profile
from loader.storage.base import StoredFile

UPLOAD_SECONDS = 60.0
"""A file that ends too early and was written to so recently may still be growing."""

Inspect = Callable[[Path, str, InspectionLimits], Inspection]
"""Looks at a profile, which it is told the name of, as `inspect_profile` does."""


def take_in(
    path: Path,
    file: StoredFile,
    target: Path,
    limits: InspectionLimits = DEFAULT_LIMITS,
    inspect: Inspect = inspect_profile,
) -> Inspection:
    """Places a usable profile at `target`, or says why there is none.

    Args:
        path: the file on this disk; shared, not changed.
        file: what it is called, and when it was written.
        target: a place in a private directory where nothing is yet; nothing is there after an error.
        limits: what the profile may hold.
        inspect: looks at the very bytes that the engine will read, but for repairs.

    Raises:
        LoaderError: MALFORMED, TOO_LARGE, or INCOMPLETE when an upload seems to be under way; BUSY or
            INTERNAL when the disk fails.
    """
    with disk_errors(file.name), _nothing_left(target), _named(file):
        if is_gzip(path):
            most = min(limits.unpacked_bytes, limits.file_bytes)
            warnings = unpack_gzip(path, target, most)
            found = inspect(target, file.name, limits)
            apply_repairs(target, found.repairs)
            target.chmod(0o444)
            return replace(found, warnings=(*found.warnings, *warnings))
        found = inspect(path, file.name, limits)
        if not found.repairs:
            place(path, target)
            return found
        shutil.copyfile(path, target)
        apply_repairs(target, found.repairs)
        target.chmod(0o444)
        return found


@contextmanager
def _nothing_left(target: Path) -> Iterator[None]:
    """Removes what was placed if anything fails."""
    try:
        yield
    except BaseException:
        target.unlink(missing_ok=True)
        raise


@contextmanager
def _named(file: StoredFile) -> Iterator[None]:
    """Gives errors the file's name; a file that was cut off and is young counts as an upload under way."""
    try:
        yield
    except CutOffError as error:
        # A time in the future says nothing: such a file would be an upload for ever.
        if file.modified is None or abs(time.time() - file.modified) > UPLOAD_SECONDS:
            raise LoaderError(error.code, error.message, file.name) from error
        incomplete = still_uploading(error)
        raise LoaderError(incomplete.code, incomplete.message, file.name) from error
    except LoaderError as error:
        told = (error.retry_after, error.ahead)
        raise LoaderError(error.code, error.message, file.name, *told) from error
