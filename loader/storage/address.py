"""Addresses of stored files: taking them apart and showing them, and nothing else.

A `gs://` address is not a URL: `%`, `#`, `?` and `+` are ordinary characters of an object's name, so
nothing here decodes, encodes or normalises. No function here touches a disk or a network.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from loader.errors import ErrorCode, LoaderError

GCS_SCHEME = "gs://"
SHOWN_CHARACTERS = 300
"""Longest part of a caller's own text that is repeated in a message."""

# https://cloud.google.com/storage/docs/buckets#naming, with the 222 characters of dotted names.
_BUCKET = re.compile(r"[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]")


@dataclass(frozen=True)
class GcsAddress:
    """A bucket and the rest of the address.

    Attributes:
        bucket: the bucket's name.
        name: object name or prefix exactly as written; empty for the bucket itself.
    """

    bucket: str
    name: str

    @property
    def prefix(self) -> str:
        """What the names of all objects below this folder begin with."""
        name = self.name.removesuffix("/")
        return f"{name}/" if name else ""


def is_gcs(location: str) -> bool:
    """Whether the location is in Google Cloud Storage."""
    return location.startswith(GCS_SCHEME)


def parse_gcs(location: str) -> GcsAddress:
    """Takes `gs://bucket/name` apart.

    Raises:
        LoaderError: INVALID_REQUEST when it is no such address.
    """
    bucket, _, name = location.removeprefix(GCS_SCHEME).partition("/")
    if not is_gcs(location) or _BUCKET.fullmatch(bucket) is None:
        raise LoaderError(
            ErrorCode.INVALID_REQUEST,
            f"{shown(location)} is not a Cloud Storage address; write it as gs://bucket/folder.",
        )
    return GcsAddress(bucket, name)


def has_plain_segments(location: str) -> bool:
    """Whether no part of the path is empty, `.` or `..`; one slash at the end does not count."""
    path = location.removeprefix(GCS_SCHEME) if is_gcs(location) else location[1:]
    path = path.removesuffix("/")
    return "\0" not in path and not {"", ".", ".."}.intersection(path.split("/"))


def shown(location: str) -> str:
    """A location in quotes for a message: cut when long, without characters that break a line."""
    text = location[:SHOWN_CHARACTERS] + ("..." if len(location) > SHOWN_CHARACTERS else "")
    return "'" + "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text) + "'"
