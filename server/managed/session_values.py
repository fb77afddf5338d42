"""Profiler sessions in the managed API's shape: how a record is shown, and what a message sets.

Hosts report one by one under one id, so `targetSessions` are merged by host. `storageFolderUri`, as the SDK
sends it, is not where the files are: JAX writes them to `<gcsPath>/<run>/plugins/profile/<session>/`, and
that is what we note.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from types import MappingProxyType

from loader.catalog import PROFILE_FOLDER
from server.http.error_table import PRECONDITION
from server.http.errors import ApiError
from server.http.masks import checked_size, merged_document
from server.managed.errors import checked
from server.managed.names import managed_session_name
from server.managed.run_values import timestamp
from server.registry import records
from server.registry.records import Json, SessionKind, SessionState
from server.registry.session_changes import SessionChanges
from server.registry.sessions import NewSession
from server.schemas import Session

SERVER_SET = frozenset({"name", "etag", "createTime", "updateTime", "dashboardUri", "@type"})
"""Fields that clients send back as they read them."""
_NAMES: Mapping[str, str] = MappingProxyType({"targets": "targetSessions", "details": ""})
_ELSEWHERE = frozenset({"targetSessions", "kind"})
_KINDS: Mapping[str, SessionKind] = MappingProxyType(
    {"KIND_PROGRAMMATIC": SessionKind.PROGRAMMATIC, "KIND_ON_DEMAND": SessionKind.ON_DEMAND}
)
_SHOWN_KINDS: Mapping[SessionKind, str] = MappingProxyType(
    {
        SessionKind.SCANNED: "KIND_SCANNED",
        **{kind: name for name, kind in _KINDS.items()},
    }
)
_RUNNING = frozenset({"", "ACTIVE", "SESSION_PHASE_UNSPECIFIED"})
Fields = Mapping[str, Json]


def session_message(
    session: records.ProfilerSession, parent: str, dashboard_uri: str
) -> dict[str, Json]:
    """A session as the managed API shows it.

    Args:
        session: the session.
        parent: of its run, as `records.Run.parent`.
        dashboard_uri: address of the page that opens it.
    """
    told = session.details.get("profilerTargets")
    names = told if isinstance(told, list) else []
    hosts = [host for host in session.targets if host not in names]
    shown: dict[str, Json] = {
        **settable_fields(session),
        "name": managed_session_name(parent, session.run, session.id),
        "profilerTargets": [*names, *hosts],
        "storageFolderUri": session.locations[0],
        "dashboardUri": dashboard_uri,
        "createTime": timestamp(session.created),
        "etag": etag_of(session),
    }
    if session.started is not None and session.ended is not None:
        shown["duration"] = f"{(session.ended - session.started).total_seconds():.3f}s"
    return shown


def settable_fields(session: records.ProfilerSession) -> dict[str, Json]:
    """What a client has set."""
    shown: dict[str, Json] = {**session.details, "targetSessions": dict(session.targets)}
    if session.kind in _SHOWN_KINDS:
        shown["kind"] = _SHOWN_KINDS[session.kind]
    return shown


def etag_of(session: records.ProfilerSession) -> str:
    """Names what a client has set, without the hosts: these are only ever added and merged."""
    fields = settable_fields(session)
    del fields["targetSessions"]
    text = json.dumps([session.uid, fields], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def new_session(
    fields: Fields, run: records.Run, session_id: str, attempt: int | None
) -> NewSession:
    """What the registry keeps of a new session; its files may come later.

    Raises:
        ApiError: nobody said where the run's files are, or naming a field.
    """
    targets = _targets({}, fields)
    started, ended = _times(targets)
    place = _place(fields, run, session_id)
    _check(place, targets, fields)
    return NewSession(
        id=session_id,
        locations=(place,),
        display_name=session_id,
        kind=_kind(fields) or SessionKind.ATTACHED,
        state=SessionState.OPEN,
        started=started,
        ended=ended,
        targets=targets,
        details=_details(fields),
        attempt=attempt,
    )


def changes_to(fields: Fields, old: records.ProfilerSession) -> SessionChanges:
    """What becomes of a session that has these fields after an update.

    Raises:
        ApiError: naming the field that would become what it may not be, or too large.
    """
    targets = _targets(old.targets, fields)
    started, ended = _times(targets)
    _check(old.locations[0], targets, fields)
    return SessionChanges(
        kind=_kind(fields),
        started=started,
        ended=ended,
        targets=targets,
        details=_details(fields),
        # A host that still runs has come to one that is through.
        cleared=frozenset({"ended"}) if targets and ended is None else frozenset(),
    )


def _check(place: str, targets: dict[str, Json], fields: Fields) -> None:
    values: dict[str, Json] = {
        "storageFolderUri": place,
        "targets": targets,
        "details": _details(fields),
    }
    checked(Session, values, _NAMES)


def _targets(old: Fields, fields: Fields) -> dict[str, Json]:
    sent = fields.get("targetSessions")
    merged = merged_document(old, sent if isinstance(sent, dict) else {})
    return checked_size("target_sessions", merged)


def _details(fields: Fields) -> dict[str, Json]:
    return {key: value for key, value in fields.items() if key not in _ELSEWHERE | SERVER_SET}


def _kind(fields: Fields) -> SessionKind | None:
    kind = fields.get("kind")
    return _KINDS.get(kind) if isinstance(kind, str) else None


def _place(fields: Fields, run: records.Run, session_id: str) -> str:
    """Where the job writes the session's files."""
    if run.storage_root:
        return f"{run.storage_root.rstrip('/')}/{run.id}/{PROFILE_FOLDER}/{session_id}"
    told = fields.get("storageFolderUri")
    if isinstance(told, str) and told:
        return told.rstrip("/")
    raise ApiError(
        PRECONDITION,
        "Nobody has said where this run keeps its files: set its artifacts.gcsPath first, or send "
        "the session's storageFolderUri.",
        [{"field": "storageFolderUri", "description": "This is not known."}],
    )


def _times(targets: Fields) -> tuple[datetime | None, datetime | None]:
    """When the first host began, and when the last one ended; None while one still captures."""
    told = [target for target in targets.values() if isinstance(target, dict)]
    starts = [moment for one in told if (moment := _moment(one.get("startTime"))) is not None]
    ends = [moment for one in told if (moment := _moment(one.get("endTime"))) is not None]
    is_over = bool(told) and not any(_phase(one) in _RUNNING for one in told)
    return min(starts, default=None), max(ends, default=None) if is_over else None


def _phase(target: Fields) -> str:
    phase = target.get("sessionPhase")
    return phase if isinstance(phase, str) else ""


def _moment(value: Json) -> datetime | None:
    """A moment, unless it is none, or the year 1 that stands for none in protocol buffers of Go."""
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    if moment is None or moment.tzinfo is None or moment.year <= 1:
        return None
    return moment.astimezone(UTC)
