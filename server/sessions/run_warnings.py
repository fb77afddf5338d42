"""What is odd about where a run's job writes, as sentences among the run's warnings. No look at storage."""

from __future__ import annotations

from collections.abc import Callable

from loader.errors import LoaderError
from loader.storage.address import GCS_SCHEME, is_gcs, parse_gcs
from server.registry.records import Run
from server.registry.runs import MOST_WARNINGS

MayRead = Callable[[str], bool]
"""Whether a location lies below the roots that this hub may read."""


def storage_warnings(root: str, may_read: MayRead) -> list[str]:
    """What is odd about where a job writes; nothing if its sessions can be found there."""
    if not root or (_is_address(root) and may_read(root)):
        return []
    if not _is_address(root):
        return [
            f"The job writes to {root}, which is neither gs://bucket/prefix nor an absolute path, so its "
            "sessions can't be found or opened."
        ]
    return [
        f"The job writes to {root}, which is not below XPROF_HUB_STORAGE_ROOTS, so its sessions can't be "
        "found or opened. Add it to that setting."
    ]


def renewed_warnings(run: Run | None, root: str, may_read: MayRead) -> list[str]:
    """The warnings of a run whose job writes to `root` from now on: none about where it wrote before.

    Args:
        run: as it is, or None when it is made.
        root: where the job writes.
        may_read: whether a location can be read.
    """
    outdated = storage_warnings(run.storage_root, may_read) if run else []
    kept = [text for text in (run.warnings if run else ()) if text not in outdated]
    return list(dict.fromkeys([*kept, *storage_warnings(root, may_read)]))[-MOST_WARNINGS:]


def _is_address(text: str) -> bool:
    if not is_gcs(text):
        return text.startswith("/")
    try:
        parse_gcs(text)
    except LoaderError:
        return False
    return text != GCS_SCHEME
