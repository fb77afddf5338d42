"""Finished answers that took the profiles to make, beside the artifact sets, for workers that come later.

The result cache forgets: Redis evicts, an embedded cache goes with its machine. What would need the profiles
again is kept here too, as a set of its own under the artifact store's rules. Like any set it only saves work:
a damaged one counts as missing.
"""

from __future__ import annotations

import hashlib
import logging
from pathlib import Path

from loader.caches.artifacts import ArtifactStore
from loader.caches.results import ResultHeader, read_header
from loader.conversion.answers import Made
from loader.keys import kept_answer_key

_HEADER = "answer.header"
_BODY = "answer.zst"
logger = logging.getLogger(__name__)


class KeptAnswers:
    """Answers in an artifact store. Thread-safe."""

    def __init__(self, artifacts: ArtifactStore) -> None:
        """Takes the store that holds the artifact sets too."""
        self._artifacts = artifacts

    def keep(self, key: str, made: Made, directory: Path) -> None:
        """Keeps an answer if its profiles were read for it and it stays as it is; a failure is only logged.

        Args:
            key: of the answer.
            made: the answer; its file stays where it is.
            directory: a private directory of this conversion, on the same disk as the answer.
        """
        if not made.profiles_of or not made.header.is_final:
            return
        header, body = directory / _HEADER, directory / _BODY
        try:
            header.write_bytes(made.header.to_bytes())
            body.unlink(missing_ok=True)
            body.hardlink_to(made.body)
        except OSError as problem:
            logger.warning("an answer could not be kept: %s", problem)
            return
        self._artifacts.publish(kept_answer_key(key), [header, body], made.profiles_of, ())

    def recall(self, key: str, directory: Path) -> Made | None:
        """The answer, placed in an empty private directory; None when it was never kept, or is damaged.

        Raises:
            LoaderError: INTERNAL or BUSY, the worker's own disk is full or it can't open more files.
        """
        manifest = self._artifacts.fetch(kept_answer_key(key), directory)
        if manifest is None:
            return None
        try:
            header = _checked_header(directory)
        except (OSError, ValueError) as problem:
            logger.warning("a kept answer is damaged and is made again: %s", problem)
            self._artifacts.discard(kept_answer_key(key))
            return None
        return Made(header, directory / _BODY, manifest.hosts)


def _checked_header(directory: Path) -> ResultHeader:
    """The header of the answer in a directory, once it is known to be that of the body beside it.

    Raises:
        OSError: a file is missing.
        ValueError: the two don't belong together.
    """
    with (directory / _HEADER).open("rb") as source:
        header = read_header(source)
    with (directory / _BODY).open("rb") as source:
        digest = hashlib.file_digest(source, "sha256").hexdigest()
    if header.error is not None or not header.is_final or header.digest != digest:
        raise ValueError("its header is not that of its body")
    return header
