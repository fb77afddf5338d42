"""Profiles in Google Cloud Storage, through the official client.

Reads only, and always one exact generation, so that a file replaced in the middle of a download can't
mix two captures. Which buckets may be read is decided in `loader.storage.roots`. With the environment
variable STORAGE_EMULATOR_HOST the client talks to an emulator without credentials.
"""

from __future__ import annotations

import base64
import time
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

import google_crc32c
from google.auth.exceptions import DefaultCredentialsError
from google.cloud import storage
from google.cloud.storage.retry import DEFAULT_RETRY

from loader.errors import ErrorCode, LoaderError
from loader.storage.address import GCS_SCHEME, GcsAddress, parse_gcs, shown
from loader.storage.base import PAGE_ENTRIES, XPLANE_SUFFIX, FolderPage, StoredFile, ignore
from loader.storage.destination import open_destination, write_at
from loader.storage.gcs_errors import changed, no_credentials, translated, unavailable

RANGE_BYTES = 16 << 20
"""Bytes asked for in one request; a longer object is fetched by several requests at once."""
LIST_LIMIT = 100_000
"""Most entries of one folder that are looked at; a session has as many files as hosts, and some caches."""

_CONNECT_SECONDS = 10.0
_STALLED_SECONDS = 30.0
_LISTING_STALLED_SECONDS = 8.0
"""The same for a page of a listing, which takes tenths of a second: until then somebody sees nothing."""
_LISTING_TRIES_SECONDS = 12.0
"""How long one page of a listing is asked for again and again."""
_SLOWEST_BYTES_PER_SECOND = 2 << 20
_RANGE_THREADS = 8
_CHECKSUM_BYTES = 1 << 20
_LIST_FIELDS = "items(name,size,generation,timeCreated),prefixes,nextPageToken"
_NAME_FIELDS = "items(name),prefixes,nextPageToken"
_AFTER_SLASH = chr(ord("/") + 1)
"""Sorts right after everything below a folder, when it stands in place of the folder's slash."""


def connect_gcs(deadline_seconds: float = 60.0) -> GcsStorage:
    """Storage with the credentials of this process's environment.

    Raises:
        LoaderError: PERMISSION_DENIED when there are none.
    """
    try:
        # A project is only needed to create buckets; without None the client insists on one.
        client = storage.Client(project=None)
    except DefaultCredentialsError as error:
        raise no_credentials() from error
    return GcsStorage(client, deadline_seconds)


class GcsStorage:
    """Storage in buckets. Locations are `gs://bucket/name`, names taken literally.

    Args:
        client: client with its credentials.
        deadline_seconds: longest time for one listing with all its retries; a download gets this and
            what its size takes at 2 MiB/s.
    """

    def __init__(self, client: storage.Client, deadline_seconds: float = 60.0) -> None:
        self._client = client
        self._deadline_seconds = deadline_seconds
        tries = min(_LISTING_TRIES_SECONDS, deadline_seconds)
        self._listing_retry = DEFAULT_RETRY.with_timeout(tries)
        self._pool = ThreadPoolExecutor(_RANGE_THREADS, thread_name_prefix="gcs-range")

    def list_files(self, location: str) -> list[StoredFile]:
        """The objects directly in a folder, sorted by name, or the one `.xplane.pb` at `location`.

        Raises:
            LoaderError: INVALID_REQUEST, PERMISSION_DENIED, BUCKET_NOT_FOUND, STORAGE_UNAVAILABLE, or
                TOO_LARGE above `LIST_LIMIT` entries.
        """
        address = parse_gcs(location)
        if address.name.endswith(XPLANE_SUFFIX):
            # Sorted by name, the object itself comes first among all names that begin with its name.
            found, _ = self._list(address, address.name, max_results=1)
            return [file for file in found if file.location == location]
        found, _ = self._list(address, address.prefix)
        return sorted(found, key=lambda file: file.name)

    def list_folders(self, location: str) -> list[str]:
        """Locations of the folders directly in a folder, sorted, without a slash at the end.

        Raises:
            LoaderError: as `list_files`.
        """
        address = parse_gcs(location)
        _, prefixes = self._list(address, address.prefix)
        names = sorted(prefix.removesuffix("/") for prefix in prefixes)
        # A name with two slashes in a row makes a folder without a name, which no location can mean.
        return [f"{GCS_SCHEME}{address.bucket}/{n}" for n in names if n and not n.endswith("/")]

    def list_folder_page(
        self, location: str, after: str = "", most: int = PAGE_ENTRIES
    ) -> FolderPage:
        """Some of the folders directly in a folder, by one request; see `Storage.list_folder_page`.

        Raises:
            LoaderError: as `list_files`.
        """
        address = parse_gcs(location)
        deadline = _Deadline.after(self._deadline_seconds)
        begin = after[:-1] + _AFTER_SLASH if after.endswith("/") else after
        with translated(address.bucket):
            listing = self._client.list_blobs(
                address.bucket,
                prefix=address.prefix or None,
                delimiter="/",
                start_offset=address.prefix + begin if begin else None,
                max_results=most,
                fields=_NAME_FIELDS,
                timeout=deadline.request_timeout(_LISTING_STALLED_SECONDS),
                retry=self._listing_retry,
            )
            names: set[str] = set()
            for page in listing.pages:
                names.update(blob.name for blob in page)
                names.update(listing.prefixes)
                fresh = sorted(name for name in names if name[len(address.prefix) :] > after)
                if fresh:
                    more = listing.next_page_token is not None
                    return _folder_page(address, fresh, most, more)
        return FolderPage((), "")

    def _list(
        self, address: GcsAddress, prefix: str, max_results: int | None = None
    ) -> tuple[list[StoredFile], set[str]]:
        """All pages of one folder: its files and its sub-prefixes."""
        deadline = _Deadline.after(self._deadline_seconds)
        files: list[StoredFile] = []
        with translated(address.bucket):
            listing = self._client.list_blobs(
                address.bucket,
                prefix=prefix or None,
                delimiter="/",
                max_results=max_results,
                fields=_LIST_FIELDS,
                timeout=deadline.request_timeout(_LISTING_STALLED_SECONDS),
                retry=self._listing_retry,
            )
            for page in listing.pages:
                files.extend(
                    stored_file(address.bucket, blob)
                    for blob in page
                    if not blob.name.endswith("/")
                )
                if len(files) + len(listing.prefixes) > LIST_LIMIT:
                    raise _too_many(address)
                if deadline.remaining() <= 0:
                    raise unavailable(address.bucket, None)
            return files, set(listing.prefixes)

    def download(
        self, file: StoredFile, destination: Path, wrote: Callable[[int], None] = ignore
    ) -> None:
        """Writes this generation, as stored (a gzip-encoded object is not unpacked).

        Raises:
            LoaderError: SOURCE_CHANGED when this generation is gone, PERMISSION_DENIED,
                BUCKET_NOT_FOUND, or STORAGE_UNAVAILABLE (also when the checksum does not match).
            OSError: when `destination` can't be written.
        """
        seconds = self._deadline_seconds + file.size / _SLOWEST_BYTES_PER_SECOND
        deadline = _Deadline.after(seconds)
        fetch = _Fetch(self._client, parse_gcs(file.location), file, deadline, wrote)
        with open_destination(destination, file.size) as target:
            if file.size <= RANGE_BYTES:
                fetch.whole(target)
            else:
                fetch.ranges(target, self._pool)
        if file.size > RANGE_BYTES:
            fetch.verify(destination)

    def read_part(self, file: StoredFile, start: int, length: int) -> bytes:
        """Some bytes of exactly this generation, by one request; see `Storage.read_part`.

        Raises:
            LoaderError: as `download`.
        """
        deadline = _Deadline.after(self._deadline_seconds)
        fetch = _Fetch(self._client, parse_gcs(file.location), file, deadline, ignore)
        return fetch.part(start, length)


@dataclass(frozen=True)
class _Deadline:
    """A point in time until which a call and its retries may take.

    Attributes:
        at: seconds on the monotonic clock.
    """

    at: float

    @classmethod
    def after(cls, seconds: float) -> _Deadline:
        return cls(time.monotonic() + seconds)

    def remaining(self) -> float:
        return self.at - time.monotonic()

    def request_timeout(self, stalled: float = _STALLED_SECONDS) -> tuple[float, float]:
        """Longest waits of one request for the connection and for the next bytes, in seconds."""
        left = max(self.remaining(), 0.1)
        return min(_CONNECT_SECONDS, stalled, left), min(stalled, left)


class _Fetch:
    """One download of one generation."""

    def __init__(
        self,
        client: storage.Client,
        address: GcsAddress,
        file: StoredFile,
        deadline: _Deadline,
        wrote: Callable[[int], None],
    ) -> None:
        self._bucket = client.bucket(address.bucket)
        self._address = address
        self._file = file
        self._deadline = deadline
        self._wrote = wrote
        self._crc32c: str | None = None

    def whole(self, target: int) -> None:
        """Fetches by one request; the client compares the checksum."""
        writer = _Writer(target, 0, self._deadline, self._wrote)
        self._get(writer, checksum="crc32c")
        if writer.offset != self._file.size:
            raise changed(self._file.name)

    def ranges(self, target: int, pool: ThreadPoolExecutor) -> None:
        """Fetches by several requests at once; `verify` must follow."""
        with translated(self._address.bucket, self._file.name):
            blob = self._blob()
            blob.reload(**self._limits())
        if (str(blob.generation), blob.size) != (self._file.generation, self._file.size):
            raise changed(self._file.name)
        self._crc32c = blob.crc32c
        starts = range(0, self._file.size, RANGE_BYTES)
        tasks = [pool.submit(self._range, target, start) for start in starts]
        try:
            wait(tasks, return_when=FIRST_EXCEPTION)
        finally:
            # The descriptor is closed by the caller, so no request may still be writing to it.
            for task in tasks:
                task.cancel()
            wait(tasks)
        for task in tasks:
            if not task.cancelled():
                task.result()

    def part(self, start: int, length: int) -> bytes:
        """Fetches some bytes by one request."""
        with translated(self._address.bucket, self._file.name):
            block: bytes = self._blob().download_as_bytes(
                raw_download=True,
                start=start,
                end=start + length - 1,
                checksum=None,
                **self._limits(),
            )
        if len(block) != length:
            raise changed(self._file.name)
        return block

    def verify(self, path: Path) -> None:
        """Compares the written file with the store's CRC32C, where the store gave one."""
        if self._crc32c is None:
            return
        checksum = 0
        with path.open("rb") as stream:
            while block := stream.read(_CHECKSUM_BYTES):
                checksum = google_crc32c.extend(checksum, block)
        if base64.b64encode(checksum.to_bytes(4, "big")).decode() != self._crc32c:
            raise unavailable(self._address.bucket, self._file.name)

    def _range(self, target: int, start: int) -> None:
        end = min(start + RANGE_BYTES, self._file.size)
        writer = _Writer(target, start, self._deadline, self._wrote)
        self._get(writer, start=start, end=end - 1, checksum=None)
        if writer.offset != end:
            raise changed(self._file.name)

    def _get(self, writer: _Writer, **options: object) -> None:
        with translated(self._address.bucket, self._file.name):
            self._blob().download_to_file(writer, raw_download=True, **options, **self._limits())

    def _blob(self) -> storage.Blob:
        """A new object per request: the client writes what it learns from an answer into it."""
        return self._bucket.blob(self._address.name, generation=int(self._file.generation))

    def _limits(self) -> dict[str, object]:
        return {
            "timeout": self._deadline.request_timeout(),
            "retry": DEFAULT_RETRY.with_timeout(max(self._deadline.remaining(), 0.1)),
        }


class _Writer:
    """The part of a file interface that the client's downloads use, writing at an offset."""

    def __init__(
        self, descriptor: int, offset: int, deadline: _Deadline, wrote: Callable[[int], None]
    ) -> None:
        self._descriptor = descriptor
        self._deadline = deadline
        self._wrote = wrote
        self.offset = offset

    def write(self, block: bytes) -> int:
        """Writes the next bytes, unless the download has taken too long as a whole.

        Raises:
            TimeoutError: the deadline has passed; a store that drips bytes never times out otherwise.
            OSError: the disk.
        """
        if self._deadline.remaining() <= 0:
            raise TimeoutError
        write_at(self._descriptor, block, self.offset)
        self.offset += len(block)
        self._wrote(len(block))
        return len(block)


def stored_file(bucket: str, blob: storage.Blob) -> StoredFile:
    """Describes an object, as listed or as just written."""
    name: str = blob.name
    created = blob.time_created
    return StoredFile(
        location=f"{GCS_SCHEME}{bucket}/{name}",
        name=name.rpartition("/")[2],
        size=int(blob.size),
        generation=str(blob.generation),
        modified=created.timestamp() if created else None,
    )


def _folder_page(address: GcsAddress, entries: list[str], most: int, has_more: bool) -> FolderPage:
    """The folders among the sorted entries of an answer.

    An answer may hold more than was asked for; what is left over is asked for again.
    """
    names = [entry[len(address.prefix) :] for entry in entries]
    kept = names[:most]
    # A name that is a slash lies in a folder without a name: no location means it.
    folders = [name[:-1] for name in kept if name.endswith("/") and len(name) > 1]
    base = f"{GCS_SCHEME}{address.bucket}/{address.prefix}"
    is_last = len(kept) == len(names) and not has_more
    return FolderPage(tuple(base + name for name in folders), "" if is_last else kept[-1])


def _too_many(address: GcsAddress) -> LoaderError:
    """The error for a folder that can't be a session or a log directory."""
    return LoaderError(
        ErrorCode.TOO_LARGE,
        f"The folder {shown(GCS_SCHEME + address.bucket + '/' + address.name)} has more than "
        f"{LIST_LIMIT:,} entries; name the session's own folder.",
    )
