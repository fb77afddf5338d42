"""Where the sessions of a run lie, and how they are listed without touching what lies beside them.

A run's folder also holds checkpoints, logs and data, far more of them than profiles. So a run's folder
itself is never listed, only the folders that sessions are known to be in.
"""

from __future__ import annotations

from dataclasses import dataclass

from loader.catalog import PROFILE_FOLDER
from loader.errors import ErrorCode, LoaderError
from loader.storage.address import GCS_SCHEME
from loader.storage.base import XPLANE_SUFFIX, Storage
from server.names import LONGEST_LINE, has_controls
from server.registry.records import Run

LAYOUTS = (PROFILE_FOLDER, f"tensorboard/{PROFILE_FOLDER}")
"""Folders of a run that hold sessions. JAX, the ML Diagnostics SDK and TensorBoard callbacks write the first
one, MaxText has JAX write to `<base_output_directory>/<run>/tensorboard`, which makes the second one."""
_NESTED = PROFILE_FOLDER
"""In the first one, where vLLM under the SDK writes: it takes the SDK's folder of sessions for a log
directory."""
_INNER = PROFILE_FOLDER.partition("/")[0]


@dataclass(frozen=True)
class FoundSessions:
    """The sessions in a run's folder.

    Attributes:
        layout: the one of `LAYOUTS` that holds them, or empty when there are none.
        folders: their addresses, sorted.
    """

    layout: str
    folders: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The last parts of the addresses."""
        return tuple(last_part(folder) for folder in self.folders)


@dataclass(frozen=True)
class ProfilePlace:
    """What the address of a profile file says.

    Attributes:
        run_folder: folder of the run.
        session_folder: folder of the session.
    """

    run_folder: str
    session_folder: str


def sessions_of_run(storage: Storage, run: Run) -> FoundSessions:
    """The sessions in a run's own folder, `<storage root>/<run id>`.

    Raises:
        LoaderError: as `sessions_of_folder`.
    """
    return sessions_of_folder(storage, f"{run.storage_root.rstrip('/')}/{run.id}")


def sessions_of_folder(storage: Storage, folder: str, first: str = "") -> FoundSessions:
    """The sessions of the run in a folder: one listing when the first layout that is tried holds them.

    Args:
        storage: holds it.
        folder: the run's, without a slash at the end.
        first: the layout that held them last time, or that its neighbours have.

    Raises:
        LoaderError: the storage's own errors, but not for what isn't there.
    """
    if not can_be_told(folder):
        return FoundSessions("", ())
    for layout in sorted(LAYOUTS, key=lambda one: one != first):
        base = f"{folder}/{layout}"
        found = _folders(storage, base)
        inner = f"{base}/{_INNER}"
        if inner in found:
            found.remove(inner)
            found += _folders(storage, f"{base}/{_NESTED}")
        told = tuple(location for location in found if can_be_told(location))
        if told:
            return FoundSessions(layout, told)
    return FoundSessions("", ())


def place_of_profile(location: str) -> ProfilePlace | None:
    """Takes the address of a file apart; None when it is no profile in a session's folder."""
    session_folder, _, name = location.rpartition("/")
    if not name.endswith(XPLANE_SUFFIX) or name == XPLANE_SUFFIX or not can_be_told(session_folder):
        return None
    parent, _, session = session_folder.rpartition("/")
    nested = f"/{PROFILE_FOLDER}/{_NESTED}"
    for layout in (nested.removeprefix("/"), *reversed(LAYOUTS)):
        run_folder = parent.removesuffix(f"/{layout}")
        if session and run_folder != parent and is_folder(parent_of(run_folder)):
            return ProfilePlace(run_folder, session_folder)
    return None


def is_folder(location: str) -> bool:
    """Whether this can be a folder: a bucket at least, or a path from the top."""
    return location.startswith("/") or len(location) > len(GCS_SCHEME)


def can_be_told(location: str) -> bool:
    """Whether the API can tell an address: whoever may write to a bucket may name a folder as they like."""
    return len(location) <= LONGEST_LINE and not has_controls(location)


def last_part(location: str) -> str:
    """The name of a folder."""
    return location.rstrip("/").rpartition("/")[2]


def parent_of(location: str) -> str:
    """The folder that a folder is in."""
    return location.rstrip("/").rpartition("/")[0]


def _folders(storage: Storage, location: str) -> list[str]:
    try:
        return [folder.rstrip("/") for folder in storage.list_folders(location)]
    except LoaderError as error:
        if error.code is ErrorCode.NOT_FOUND:
            return []
        raise
