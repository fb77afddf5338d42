"""Artifact sets in a Cloud Storage bucket, shared by all workers.

The files go up under a name of their own, the manifest last and only if there is none, so that a set appears
at once and the first one stays. A set that proves useless loses its manifest only; its files are removed by
the bucket's lifecycle rule. Those of a session that is deleted for good are deleted here.
"""

from __future__ import annotations

import hashlib
import logging
import threading
import uuid
from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from google.api_core.exceptions import NotFound, PreconditionFailed
from google.auth.exceptions import GoogleAuthError
from google.cloud import storage
from google.cloud.storage.exceptions import DataCorruption

from loader.caches.artifacts import MANIFEST, Manifest, whole
from loader.errors import ErrorCode, LoaderError
from loader.storage.gcs_errors import FAILURES, translated

_TIMEOUT_SECONDS = 60
_PARALLEL = 4
"""Files of a set on their way at once: a trace has three for each host, and somebody waits for all."""
_READINGS = 1000
"""Most manifests whose last reading is remembered; more than there are jobs at a time."""
logger = logging.getLogger(__name__)


class _Readings:
    """Which state of each manifest this worker read last. Thread-safe and bounded."""

    def __init__(self) -> None:
        self._digests: OrderedDict[str, bytes] = OrderedDict()
        self._lock = threading.Lock()

    def note(self, key: str, text: bytes) -> None:
        """Remembers a reading."""
        with self._lock:
            self._digests[key] = hashlib.sha256(text).digest()
            self._digests.move_to_end(key)
            while len(self._digests) > _READINGS:
                self._digests.popitem(last=False)

    def forget(self, key: str) -> None:
        """Whatever was read says nothing about the set."""
        with self._lock:
            self._digests.pop(key, None)

    def is_last(self, key: str, text: bytes) -> bool:
        """Whether this is what was read last."""
        with self._lock:
            return self._digests.get(key) == hashlib.sha256(text).digest()


class GcsArtifacts:
    """An `ArtifactStore` below `gs://bucket/prefix`; failures count as misses and are logged."""

    def __init__(self, client: storage.Client, root: str) -> None:
        bucket, _, prefix = root.removeprefix("gs://").partition("/")
        self._bucket = client.bucket(bucket)
        self._prefix = f"{prefix.strip('/')}/" if prefix.strip("/") else ""
        self._readings = _Readings()

    def contains(self, key: str) -> bool:
        """Whether the set's manifest is there."""
        try:
            return bool(self._blob(key, MANIFEST).exists(timeout=_TIMEOUT_SECONDS))
        except FAILURES as problem:
            logger.warning("the bucket of artifacts does not answer: %s", problem)
            return False

    def fetch(
        self, key: str, directory: Path, wants: Callable[[str], bool] = lambda _name: True
    ) -> Manifest | None:
        """Downloads the set's files in parallel."""
        try:
            text = self._blob(key, MANIFEST).download_as_bytes(timeout=_TIMEOUT_SECONDS)
            self._readings.note(key, text)
            folder, _, rest = text.partition(b"\n")
            manifest = Manifest.from_json(rest)
            wanted = [(name, size) for name, size in manifest.files if wants(name)]
            self._download(key, folder.decode(), [name for name, _ in wanted], directory)
        except NotFound:
            return None
        except (DataCorruption, ValueError) as problem:
            logger.warning("a damaged artifact set is ignored: %s", problem)
            return None
        except (*FAILURES, OSError) as problem:
            self._readings.forget(key)  # the set may be whole: a discard must not remove it
            logger.warning("an artifact set could not be fetched: %s", problem)
            return None
        if not whole(directory, wanted):
            # Nothing may stay: the engine would take a damaged file for its own.
            for name, _ in wanted:
                (directory / name).unlink(missing_ok=True)
            return None
        return manifest

    def _download(self, key: str, folder: str, names: Sequence[str], directory: Path) -> None:
        def one(name: str) -> None:
            blob = self._blob(key, f"{folder}/{name}")
            blob.download_to_filename(str(directory / name), timeout=_TIMEOUT_SECONDS)

        try:
            with ThreadPoolExecutor(_PARALLEL) as pool:
                list(pool.map(one, names))
        except BaseException:
            for name in names:
                (directory / name).unlink(missing_ok=True)
            raise

    def publish(
        self, key: str, files: Sequence[Path], hosts: Sequence[str], warnings: Sequence[str]
    ) -> None:
        """Uploads the files, then the manifest unless there is one."""
        folder = uuid.uuid4().hex

        def one(path: Path) -> None:
            blob = self._blob(key, f"{folder}/{path.name}")
            blob.upload_from_filename(str(path), timeout=_TIMEOUT_SECONDS)

        try:
            with ThreadPoolExecutor(_PARALLEL) as pool:
                list(pool.map(one, files))
            self._blob(key, MANIFEST).upload_from_string(
                f"{folder}\n{Manifest.of(files, hosts, warnings).to_json()}",
                if_generation_match=0,
                timeout=_TIMEOUT_SECONDS,
            )
        except PreconditionFailed:
            logger.info("another worker has published the same artifact set")
        except (*FAILURES, OSError) as problem:
            logger.warning("an artifact set could not be published: %s", problem)

    def discard(self, key: str) -> None:
        """Removes the manifest if it is still the one that this worker read last.

        Another worker may have found the set useless before and have published a better one.
        """
        manifest = self._blob(key, MANIFEST)
        try:
            manifest.reload(timeout=_TIMEOUT_SECONDS)
            generation = manifest.generation
            text = manifest.download_as_bytes(
                if_generation_match=generation, timeout=_TIMEOUT_SECONDS
            )
            if self._readings.is_last(key, text):
                manifest.delete(if_generation_match=generation, timeout=_TIMEOUT_SECONDS)
        except (NotFound, PreconditionFailed):
            logger.info("another worker has discarded the same artifact set")
        except FAILURES as problem:
            logger.warning("an artifact set could not be discarded: %s", problem)

    def forget(self, marks: Collection[str]) -> int:
        """Deletes the sets of these sessions, manifests first; see `loader.caches.forgetting.Forgets`.

        Raises:
            LoaderError: BUCKET_NOT_FOUND, PERMISSION_DENIED or STORAGE_UNAVAILABLE.
        """
        count = 0
        with translated(self._bucket.name):
            for mark in sorted(marks):
                found = self._bucket.list_blobs(
                    prefix=f"{self._prefix}{mark}", timeout=_TIMEOUT_SECONDS
                )
                blobs = sorted(found, key=lambda blob: not blob.name.endswith(f"/{MANIFEST}"))
                count += sum(blob.name.endswith(f"/{MANIFEST}") for blob in blobs)
                with ThreadPoolExecutor(_PARALLEL) as pool:
                    list(pool.map(_delete, blobs))
        return count

    def _blob(self, key: str, name: str) -> storage.Blob:
        return self._bucket.blob(f"{self._prefix}{key}/{name}")


def _delete(blob: storage.Blob) -> None:
    with suppress(NotFound):  # another process removes it, too
        blob.delete(timeout=_TIMEOUT_SECONDS)


def connect_gcs_artifacts(root: str) -> GcsArtifacts:
    """The artifacts below a `gs://` address, with the credentials of this process.

    Raises:
        LoaderError: PERMISSION_DENIED, there are no credentials.
    """
    try:
        client = storage.Client(project=None)
    except GoogleAuthError as problem:
        raise LoaderError(
            ErrorCode.PERMISSION_DENIED,
            "XPROF_HUB_CACHE_ROOT is a bucket, and there are no Google Cloud credentials that work. Set "
            "GOOGLE_APPLICATION_CREDENTIALS, or run under a service account.",
        ) from problem
    return GcsArtifacts(client, root)
