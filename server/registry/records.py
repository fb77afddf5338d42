"""What the registry knows, as plain values: no query runs and no connection is held when they are read."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias

JsonScalar: TypeAlias = str | int | float | bool | None
Json: TypeAlias = "JsonScalar | list[Json] | dict[str, Json]"


def etag_of(uid: str, version: int) -> str:
    """A text that changes with every change of a resource, and differs for its successor of the same name."""
    return hashlib.sha256(f"{uid}:{version}".encode()).hexdigest()[:16]


def revocable_etag(uid: str, revoked: datetime | None) -> str:
    """The same for what can only be revoked."""
    return etag_of(uid, 1 if revoked is None else 2)


class RunState(StrEnum):
    """What is known of the job behind a run, or behind one attempt of it."""

    ACTIVE = "ACTIVE"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    LOST = "LOST"
    """Nobody has heard of it for long: closed by age."""


class SessionKind(StrEnum):
    """How a session came here."""

    ATTACHED = "ATTACHED"
    """Somebody named its folder."""
    PROGRAMMATIC = "PROGRAMMATIC"
    """The job captured it and told us."""
    ON_DEMAND = "ON_DEMAND"
    """Somebody asked the job to capture it."""
    SCANNED = "SCANNED"
    """It was found where the job writes."""
    UPLOADED = "UPLOADED"


class SessionState(StrEnum):
    """Whether hosts of a session may still come."""

    OPEN = "OPEN"
    COMPLETE = "COMPLETE"


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
        parent: `projects/<project>/locations/<location>` if it was made below one, else empty.
        state: of its newest attempt.
        ended: when that ended, or None.
        seen: last sign of life of the job; None for a run that was made before these were noted.
        tools: what watches the job, as the client sent it.
        workload: orchestrator and what it says of the job, as the client sent it.
        storage_root: where the job writes its runs' folders; empty when nobody said.
        warnings: sentences about what could not be taken as it was sent, or is odd.
        note: what people wrote about it.
        is_held: whether a legal hold keeps it from being deleted.
        deleted: since when it is deleted and may still come back, or None.
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
    parent: str = ""
    state: RunState = RunState.ACTIVE
    ended: datetime | None = None
    seen: datetime | None = None
    tools: tuple[Json, ...] = ()
    workload: Mapping[str, Json] = field(default_factory=dict)
    storage_root: str = ""
    warnings: tuple[str, ...] = ()
    note: str = ""
    is_held: bool = False
    deleted: datetime | None = None

    @property
    def etag(self) -> str:
        """Names this state of the run."""
        return etag_of(self.uid, self.version)


@dataclass(frozen=True)
class Attempt:
    """One try of a job to finish a run.

    Attributes:
        number: from 1.
        state: how it ended, or ACTIVE.
        started: UTC.
        ended: UTC, or None.
        details: what the client said when it began.
    """

    number: int
    state: RunState
    started: datetime
    ended: datetime | None
    details: Mapping[str, Json]


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
        kind: how it came here.
        state: whether hosts may still come.
        started: when the capture began, if the client or the folder's name said so.
        ended: when it ended, if the client said so.
        targets: what the client said of each host, by the host's name.
        details: what else it said: duration, tracer levels.
        attempt: number of the run's attempt that it belongs to, or None.
        seen_digest: names the files that were there at the last look; empty before the first.
        seen_changed: since when they have been as they are.
        expires: when it is to be deleted by its own setting, or None.
        is_pinned: whether it outlives that, and what its group says.
        is_held: whether a legal hold keeps it from being deleted.
        deleted: since when it is deleted and may still come back, or None.
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
    kind: SessionKind = SessionKind.ATTACHED
    state: SessionState = SessionState.COMPLETE
    started: datetime | None = None
    ended: datetime | None = None
    targets: Mapping[str, Json] = field(default_factory=dict)
    details: Mapping[str, Json] = field(default_factory=dict)
    attempt: int | None = None
    seen_digest: str = ""
    seen_changed: datetime | None = None
    expires: datetime | None = None
    is_pinned: bool = False
    is_held: bool = False
    deleted: datetime | None = None

    @property
    def etag(self) -> str:
        """Names this state of the session."""
        return etag_of(self.uid, self.version)


@dataclass(frozen=True)
class Operation:
    """A change that a client may ask for later; all of ours are made at once, or refused.

    Attributes:
        id: last part of its resource name.
        parent: below which it is, as `Run.parent`.
        verb: `create`, `update` or `delete`.
        target: resource name of what it is about.
        created: UTC.
    """

    id: str
    parent: str
    verb: str
    target: str
    created: datetime
