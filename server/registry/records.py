"""What the registry knows, as plain values: no query runs and no connection is held when they are read."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

JsonScalar: TypeAlias = str | int | float | bool | None
Json: TypeAlias = "JsonScalar | list[Json] | dict[str, Json]"


def etag_of(uid: str, version: int) -> str:
    """A text that changes with every change of a resource, and differs for its successor of the same name."""
    return hashlib.sha256(f"{uid}:{version}".encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Run:
    """A machine learning run.

    Attributes:
        id: chosen by the client, unique, compared byte by byte.
        uid: never used again, also when a run of the same id is made later.
        display_name: for people.
        labels: short texts to search by.
        run_set: name of the group of runs that it belongs to, or empty.
        configs: the user's, software's and hardware's configuration, as the client sent it.
        artifacts: where the run keeps its files, as the client sent it.
        creator: name of the principal who made it.
        created: UTC.
        updated: UTC.
        version: counts the changes.
    """

    id: str
    uid: str
    display_name: str
    labels: Mapping[str, str]
    run_set: str
    configs: Mapping[str, Json]
    artifacts: Mapping[str, Json]
    creator: str
    created: datetime
    updated: datetime
    version: int

    @property
    def etag(self) -> str:
        """Names this state of the run."""
        return etag_of(self.uid, self.version)


@dataclass(frozen=True)
class SessionOrigin:
    """One of the sessions that a merged session was made of; it may have been deleted since.

    Attributes:
        id: its id in the same run, at that time.
        uid: its identity.
    """

    id: str
    uid: str


@dataclass(frozen=True)
class ProfilerSession:
    """A profile of one or many hosts that was attached to a run.

    Attributes:
        id: unique in its run, compared byte by byte.
        uid: never used again, also when a session of the same id is attached later.
        run: id of the run.
        display_name: for people.
        locations: folders or single file of the profile, `gs://` or absolute paths; nearly always one.
        expected_hosts: how many hosts took part, if the client said so.
        merged_from: the sessions whose folders this one shows together; empty for all but merged ones.
        prewarm: how far converting in advance has come; empty when nobody asked for it.
        creator: name of the principal who attached it.
        created: UTC.
        updated: UTC.
        version: counts the changes.
    """

    id: str
    uid: str
    run: str
    display_name: str
    locations: tuple[str, ...]
    expected_hosts: int | None
    merged_from: tuple[SessionOrigin, ...]
    prewarm: str
    creator: str
    created: datetime
    updated: datetime
    version: int

    @property
    def etag(self) -> str:
        """Names this state of the session."""
        return etag_of(self.uid, self.version)
