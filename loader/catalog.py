"""A session's hosts, and the digest that names exactly this state of its files.

The digest is the freshness (DESIGN, decision 3): whatever changes in the files changes the digest, and
with it every cache key. Nothing here is remembered between calls.
"""

from __future__ import annotations

import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise

from loader.errors import ErrorCode, LoaderError, raise_without_place
from loader.storage.base import XPLANE_SUFFIX, Storage, StoredFile

PROFILE_FOLDER = "plugins/profile"
"""Where JAX, TensorFlow and the ML Diagnostics SDK put sessions below a log directory."""
_LISTINGS_AT_ONCE = 16


@dataclass(frozen=True)
class HostFile:
    """The profile of one host in one session."""

    host: str
    file: StoredFile


@dataclass(frozen=True)
class SessionFiles:
    """The hosts of one session as they were when listed.

    Attributes:
        locations: folders (or single file) of the session; several when it was merged from several.
        hosts: sorted by host name.
    """

    locations: tuple[str, ...]
    hosts: tuple[HostFile, ...]

    @property
    def host_names(self) -> tuple[str, ...]:
        """Names of all hosts, sorted."""
        return tuple(entry.host for entry in self.hosts)

    def select(self, hosts: tuple[str, ...]) -> tuple[HostFile, ...]:
        """The files of the named hosts, sorted by host; every name must exist."""
        wanted = set(hosts)
        return tuple(entry for entry in self.hosts if entry.host in wanted)


def digest_of(hosts: tuple[HostFile, ...]) -> str:
    """Hex SHA-256 over every host's name, generation and size."""
    rows = [[entry.host, entry.file.generation, entry.file.size] for entry in hosts]
    return hashlib.sha256(json.dumps(rows, ensure_ascii=True).encode()).hexdigest()


def host_of(file_name: str) -> str | None:
    """The host that a file belongs to, or None when it is not a profile file."""
    if not file_name.endswith(XPLANE_SUFFIX):
        return None
    return file_name[: -len(XPLANE_SUFFIX)] or None


def no_profile() -> LoaderError:
    """The answer for a session without any profile file."""
    return LoaderError(
        ErrorCode.NOT_FOUND,
        f"This session holds no profile: there is no file ending in {XPLANE_SUFFIX} in its folder. "
        "If the job is still uploading, try again in a minute; otherwise capture again.",
    )


def list_session(storage: Storage, locations: tuple[str, ...]) -> SessionFiles:
    """Lists the hosts of a session's folders, or of a single profile file.

    A folder that is gone, or empty, doesn't hide the hosts in the others.

    Raises:
        LoaderError: NOT_FOUND when the session has no profile file at all, MALFORMED when a host is in more
            than one folder, and the storage's own errors; no message names the place.
    """
    entries = _hosts_of(storage, locations)
    if not entries:
        raise no_profile()
    entries.sort(key=lambda entry: entry.host)
    for entry, following in pairwise(entries):
        if entry.host == following.host:
            raise LoaderError(
                ErrorCode.MALFORMED,
                f"Host “{entry.host}” is in more than one of the folders that this session was merged from, "
                "and a session can't show the same host twice. Open the sessions themselves.",
                entry.file.name,
            )
    return SessionFiles(locations, tuple(entries))


def _hosts_of(storage: Storage, locations: tuple[str, ...]) -> list[HostFile]:
    """The hosts in all folders; a merged session's are listed side by side, for a bucket takes its time."""
    if len(locations) < 2:
        return [entry for location in locations for entry in _hosts_in(storage, location)]
    with ThreadPoolExecutor(min(len(locations), _LISTINGS_AT_ONCE), "listing") as pool:
        found = pool.map(lambda location: _hosts_in(storage, location), locations)
        return [entry for entries in found for entry in entries]


def _hosts_in(storage: Storage, location: str) -> list[HostFile]:
    try:
        files = storage.list_files(location)
    except LoaderError as error:
        if error.code is ErrorCode.NOT_FOUND:
            return []
        raise_without_place(error)
    return [HostFile(host, file) for file in files if (host := host_of(file.name)) is not None]


def find_sessions(storage: Storage, location: str) -> list[str]:
    """Locations of the sessions at or below `location`, oldest name first.

    A folder with profile files and a single file are sessions themselves; a log directory holds sessions
    in its `plugins/profile` folder.
    """
    location = location.rstrip("/")
    if any(host_of(file.name) for file in storage.list_files(location)):
        return [location]
    parent = location if location.endswith(PROFILE_FOLDER) else f"{location}/{PROFILE_FOLDER}"
    try:
        folders = storage.list_folders(parent)
    except LoaderError as error:
        if error.code is ErrorCode.NOT_FOUND:
            return []
        raise
    return [
        folder
        for folder in folders
        if any(host_of(file.name) for file in storage.list_files(folder))
    ]
