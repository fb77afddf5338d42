"""Artifact sets in a Cloud Storage bucket, shared by all workers.

The files go up under a name of their own, the manifest last and only if there is none, so that a set appears
at once and the first one stays. Old sets are removed by the bucket's lifecycle rule, not by us.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from google.api_core.exceptions import GoogleAPIError, NotFound, PreconditionFailed
from google.auth.exceptions import GoogleAuthError
from google.cloud import storage
from requests.exceptions import RequestException

from loader.artifacts import MANIFEST, Manifest, whole

_TIMEOUT_SECONDS = 60
_FAILURES = (GoogleAPIError, GoogleAuthError, RequestException)
logger = logging.getLogger(__name__)


class GcsArtifacts:
    """An `ArtifactStore` below `gs://bucket/prefix`; failures count as misses and are logged."""

    def __init__(self, client: storage.Client, root: str) -> None:
        bucket, _, prefix = root.removeprefix("gs://").partition("/")
        self._bucket = client.bucket(bucket)
        self._prefix = f"{prefix.strip('/')}/" if prefix.strip("/") else ""

    def contains(self, key: str) -> bool:
        """Whether the set's manifest is there."""
        try:
            return bool(
                self._bucket.blob(self._name(key, MANIFEST)).exists(timeout=_TIMEOUT_SECONDS)
            )
        except _FAILURES as problem:
            logger.warning("the bucket of artifacts does not answer: %s", problem)
            return False

    def fetch(self, key: str, directory: Path) -> Manifest | None:
        """Downloads the set's files in parallel."""
        try:
            text = self._bucket.blob(self._name(key, MANIFEST)).download_as_bytes(
                timeout=_TIMEOUT_SECONDS
            )
            folder, _, rest = text.partition(b"\n")
            manifest = Manifest.from_json(rest)
            self._download(key, folder.decode(), manifest, directory)
        except NotFound:
            return None
        except (*_FAILURES, ValueError, OSError) as problem:
            logger.warning("an artifact set could not be fetched: %s", problem)
            manifest = None
        if manifest is None:
            return None
        if not whole(directory, manifest):
            # Nothing may stay: the engine would take a damaged file for its own.
            for name, _ in manifest.files:
                (directory / name).unlink(missing_ok=True)
            return None
        return manifest

    def _download(self, key: str, folder: str, manifest: Manifest, directory: Path) -> None:
        def one(name: str) -> None:
            blob = self._bucket.blob(self._name(key, f"{folder}/{name}"))
            blob.download_to_filename(str(directory / name), timeout=_TIMEOUT_SECONDS)

        try:
            with ThreadPoolExecutor(4) as pool:
                list(pool.map(one, [name for name, _ in manifest.files]))
        except BaseException:
            for name, _ in manifest.files:
                (directory / name).unlink(missing_ok=True)
            raise

    def publish(
        self, key: str, files: Sequence[Path], hosts: Sequence[str], warnings: Sequence[str]
    ) -> None:
        """Uploads the files, then the manifest unless there is one."""
        folder = uuid.uuid4().hex
        try:
            for path in files:
                blob = self._bucket.blob(self._name(key, f"{folder}/{path.name}"))
                blob.upload_from_filename(str(path), timeout=_TIMEOUT_SECONDS)
            manifest = self._bucket.blob(self._name(key, MANIFEST))
            manifest.upload_from_string(
                f"{folder}\n{Manifest.of(files, hosts, warnings).to_json()}",
                if_generation_match=0,
                timeout=_TIMEOUT_SECONDS,
            )
        except PreconditionFailed:
            logger.info("another worker has published the same artifact set")
        except _FAILURES as problem:
            logger.warning("an artifact set could not be published: %s", problem)

    def discard(self, key: str) -> None:
        """Removes the manifest; the bucket's lifecycle rule removes the files."""
        try:
            self._bucket.blob(self._name(key, MANIFEST)).delete(timeout=_TIMEOUT_SECONDS)
        except NotFound:
            logger.info("the artifact set is gone already")
        except _FAILURES as problem:
            logger.warning("an artifact set could not be discarded: %s", problem)

    def _name(self, key: str, name: str) -> str:
        return f"{self._prefix}{key}/{name}"
