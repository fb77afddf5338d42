"""Uploads into a Cloud Storage bucket, through the official client.

A draft is a resumable upload; parts are put together by the store itself (objects.compose), and a whole draft
is copied into its place on the condition that nothing else lies there. With the environment variable
STORAGE_EMULATOR_HOST the client talks to an emulator without credentials.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http import HTTPStatus

from google.auth.exceptions import DefaultCredentialsError
from google.cloud import storage
from google.cloud.storage.fileio import BlobWriter
from google.cloud.storage.retry import DEFAULT_RETRY

from loader.errors import ErrorCode, LoaderError
from loader.storage.address import parse_gcs
from loader.storage.base import StoredFile
from loader.storage.gcs import stored_file
from loader.storage.gcs_errors import FAILURES, no_credentials, status_of, translated
from loader.storage.writing import AlreadyThereError, require_below

CHUNK_BYTES = 8 << 20
"""Bytes that are sent or read by one request, and kept in memory for each draft."""
MOST_COMPOSED = 32
"""Objects that one objects.compose takes (https://cloud.google.com/storage/docs/composing-objects)."""
_TIMEOUT_SECONDS = 60
_RETRY = DEFAULT_RETRY.with_timeout(30.0)
"""A store that fails for longer is told to the client, which waits and comes again. Every change names the
generation that it expects, so that doing it twice does no harm."""


def connect_gcs_writer(root: str) -> GcsWriter:
    """A writer with the credentials of this process's environment.

    Raises:
        LoaderError: PERMISSION_DENIED when there are none.
    """
    try:
        client = storage.Client(project=None)
    except DefaultCredentialsError as error:
        raise no_credentials() from error
    return GcsWriter(client, root)


class GcsWriter:
    """A `FileWriter` below `gs://bucket/prefix`, which has no slash at its end."""

    def __init__(self, client: storage.Client, root: str) -> None:
        self.root = root
        self._name = parse_gcs(root).bucket
        self._bucket = client.bucket(self._name)

    def begin(self, location: str) -> GcsDraft:
        """A new object; nothing is sent before the first chunk is full.

        Raises:
            LoaderError: PERMISSION_DENIED, the location lies outside the root.
        """
        return GcsDraft(self._blob(location), self._name)

    def join(self, parts: Sequence[StoredFile], location: str) -> StoredFile:
        """Has the store put the parts together, at most `MOST_COMPOSED` at a time.

        What is made on the way stays beside the parts, for whoever removes these.

        Raises:
            AlreadyThereError: there is an object.
            LoaderError: SOURCE_CHANGED, or the errors of writing.
        """
        level = list(parts)
        while len(level) > 1:
            groups = [level[at : at + MOST_COMPOSED] for at in range(0, len(level), MOST_COMPOSED)]
            is_last = len(groups) == 1
            level = [
                self._compose(group, location if is_last else f"{location}-{len(level)}-{index}")
                for index, group in enumerate(groups)
            ]
        return level[0]

    def _compose(self, sources: Sequence[StoredFile], location: str) -> StoredFile:
        target = self._blob(location)
        with _writing(self._name, sources[0].name):
            target.compose(
                [self._source(source) for source in sources],
                if_generation_match=0,
                timeout=_TIMEOUT_SECONDS,
                retry=_RETRY,
            )
        return self._stored(target)

    def read(self, file: StoredFile, take: Callable[[bytes], None]) -> None:
        """Reads one generation, chunk by chunk.

        Raises:
            LoaderError: SOURCE_CHANGED, or the errors of reading.
        """
        blob = self._source(file)
        with translated(self._name, file.name):
            for start in range(0, file.size, CHUNK_BYTES):
                end = min(start + CHUNK_BYTES, file.size) - 1
                block = blob.download_as_bytes(
                    start=start, end=end, raw_download=True, timeout=_TIMEOUT_SECONDS, retry=_RETRY
                )
                take(block)

    def publish(self, draft: StoredFile, location: str, replaces: str | None = None) -> StoredFile:
        """Copies inside the bucket, which moves no bytes through this process.

        Raises:
            AlreadyThereError: what is there is not what was expected.
            LoaderError: the errors of writing.
        """
        target = self._blob(location)
        source = self._source(draft)
        token: str | None = None
        while True:
            with _writing(self._name):
                token, _, _ = target.rewrite(
                    source,
                    token=token,
                    if_generation_match=int(replaces or 0),
                    timeout=_TIMEOUT_SECONDS,
                    retry=_RETRY,
                )
            if token is None:
                return self._stored(target)

    def remove(self, file: StoredFile) -> bool:
        """Deletes one generation.

        Raises:
            LoaderError: the errors of writing.
        """
        blob = self._blob(file.location)
        try:
            with _writing(self._name, file.name):
                blob.delete(
                    if_generation_match=int(file.generation), timeout=_TIMEOUT_SECONDS, retry=_RETRY
                )
        except AlreadyThereError:
            return False
        except LoaderError as error:
            if error.code is ErrorCode.SOURCE_CHANGED:
                return False
            raise
        return True

    def remove_idle(self, folder: str, before: float) -> int:
        """Deletes all objects of every folder whose newest one is older.

        Raises:
            LoaderError: the errors of writing.
        """
        prefix = f"{parse_gcs(require_below(self.root, folder)).name}/"
        folders: dict[str, list[StoredFile]] = defaultdict(list)
        with _writing(self._name):
            for blob in self._bucket.list_blobs(
                prefix=prefix, timeout=_TIMEOUT_SECONDS, retry=_RETRY
            ):
                folders[blob.name[len(prefix) :].partition("/")[0]].append(self._stored(blob))
        idle = [
            file
            for files in folders.values()
            if max(file.modified or 0.0 for file in files) < before
            for file in files
        ]
        return sum(self.remove(file) for file in idle)

    def _blob(self, location: str) -> storage.Blob:
        return self._bucket.blob(parse_gcs(require_below(self.root, location)).name)

    def _source(self, file: StoredFile) -> storage.Blob:
        """One generation of an object."""
        name = parse_gcs(require_below(self.root, file.location)).name
        return self._bucket.blob(name, generation=int(file.generation))

    def _stored(self, blob: storage.Blob) -> StoredFile:
        return stored_file(self._name, blob)


class GcsDraft:
    """A resumable upload of an object that must not be there yet."""

    def __init__(self, blob: storage.Blob, bucket: str) -> None:
        self._blob = blob
        self._bucket = bucket
        self._is_open = True
        self._writer: BlobWriter = blob.open(
            "wb",
            chunk_size=CHUNK_BYTES,
            content_type="application/octet-stream",
            if_generation_match=0,
            timeout=_TIMEOUT_SECONDS,
            retry=_RETRY,
        )

    def write(self, block: bytes) -> None:
        """Appends a block.

        Raises:
            LoaderError: PERMISSION_DENIED, BUCKET_NOT_FOUND or STORAGE_UNAVAILABLE.
        """
        with _writing(self._bucket):
            self._writer.write(block)

    def finish(self) -> StoredFile:
        """Sends the rest; the store compares its checksum.

        Raises:
            AlreadyThereError: there is an object.
            LoaderError: as `write`.
        """
        with _writing(self._bucket):
            self._writer.close()
            self._is_open = False
            self._blob.reload(timeout=_TIMEOUT_SECONDS, retry=_RETRY)
        return stored_file(self._bucket, self._blob)

    def discard(self) -> None:
        """Cancels the upload; what the store does not hear of ends by itself within a week."""
        if self._is_open:
            self._is_open = False
            try:
                self._writer.terminate()
            except FAILURES:
                return


@contextmanager
def _writing(bucket: str, file: str | None = None) -> Iterator[None]:
    """Turns the client's failures into `LoaderError`, or `AlreadyThereError` for a failed condition."""
    try:
        with translated(bucket, file):
            yield
    except LoaderError as error:
        status = status_of(error.__cause__) if error.__cause__ is not None else None
        if status == HTTPStatus.PRECONDITION_FAILED:
            raise AlreadyThereError from error
        if status == HTTPStatus.FORBIDDEN:
            raise LoaderError(
                ErrorCode.PERMISSION_DENIED,
                f"XProf Hub may not write to bucket {bucket}, where it keeps uploads; grant "
                "roles/storage.objectUser on it to the service account of XProf Hub.",
                file,
            ) from error
        raise
