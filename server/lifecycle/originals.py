"""Removing profiles themselves, where an installation is set to do so, and nothing but profiles.

Only below the roots of this installation, only generations that were listed a moment ago, and only files that
profilers write: `<host>.xplane.pb`, and JAX's `<host>.trace.json.gz` beside one.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from loader.catalog import host_of
from loader.errors import ErrorCode, LoaderError
from loader.storage.address import is_gcs, shown
from loader.storage.base import Storage, StoredFile
from loader.storage.writing import FileWriter, open_writer

TRACE_SUFFIX = ".trace.json.gz"
logger = logging.getLogger(__name__)


class Originals:
    """The profiles below an installation's roots; not safe to share between threads.

    Args:
        storage: reads below the roots.
        roots: `gs://` addresses and directories.
        open_root: makes what writes below a root.
    """

    def __init__(
        self,
        storage: Storage,
        roots: Sequence[str],
        open_root: Callable[[str], FileWriter] = open_writer,
    ) -> None:
        self._storage = storage
        self._roots = tuple(roots)
        self._open = open_root
        self._writers: dict[str, FileWriter] = {}

    def covers(self, location: str) -> bool:
        """Whether a place lies in one of the roots, so that it is ours to remove anything there.

        Raises:
            LoaderError: there are no credentials for a root's bucket.
        """
        return self._writer_for(location.rstrip("/")) is not None

    def remove(self, location: str) -> int:
        """Removes the profiles in a folder, or a single one; how many files.

        A place that is reached by a link is left alone: what other names it has is not known.

        Raises:
            LoaderError: it lies outside the roots (see `covers`), can't be listed or may not be changed; some
                may be gone.
        """
        place = location.rstrip("/")
        if not is_gcs(place) and os.path.realpath(place) != place:
            logger.warning("profiles are kept that are reached by a link: %s", shown(place))
            return 0
        writer = self._writer_for(place)
        if writer is None:
            raise LoaderError(
                ErrorCode.PERMISSION_DENIED, "A profile lies outside the roots, so it is kept."
            )
        removed = sum(writer.remove(file) for file in self._profiles(place))
        parent = Path(place).parent
        if removed and not is_gcs(place) and str(parent.parent) == writer.root:
            # An upload's folder lies in one of its own, which is empty now.
            with suppress(OSError):
                parent.rmdir()
        return removed

    def _profiles(self, place: str) -> list[StoredFile]:
        try:
            files = self._storage.list_files(place)
        except LoaderError as error:
            if error.code is ErrorCode.NOT_FOUND:
                return []
            raise
        hosts = {host for file in files if (host := host_of(file.name)) is not None}
        traces = {f"{host}{TRACE_SUFFIX}" for host in hosts}
        return [file for file in files if host_of(file.name) is not None or file.name in traces]

    def _writer_for(self, place: str) -> FileWriter | None:
        """The writer of the root that a place lies in, if there is one."""
        for root in self._roots:
            if is_gcs(root) != is_gcs(place):
                continue
            if root not in self._writers:
                self._writers[root] = self._open(root)
            if place.startswith(f"{self._writers[root].root}/"):
                return self._writers[root]
        return None
