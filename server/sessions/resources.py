"""Sessions between the API and the registry: how a record is shown, and what a body and its mask change.

No route and no query.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from loader.catalog import SessionFiles
from loader.errors import ErrorCode, LoaderError
from server.http.errors import invalid_field
from server.http.masks import Mask, changed_document, checked_size, merged_document
from server.links.lifetimes import expiry
from server.names import session_name
from server.registry import records
from server.registry.records import Json, SessionKind
from server.registry.session_changes import SessionChanges
from server.schemas import Lifetime, Session, SessionHost
from server.sessions.problems import count_hosts, problem_of
from server.sessions.schemas import HostHealth
from server.site.public_address import dashboard_uri
from server.xprof.prewarm import shown_state

SESSION_FIELDS = frozenset(
    {
        "display_name",
        "expected_hosts",
        "state",
        "start_time",
        "end_time",
        "targets",
        "details",
        "expire_time",
        "ttl",
        "pinned",
        "held",
    }
)
"""Fields of a session that a client may change, in snake_case."""
SESSION_DOCUMENTS = frozenset({"targets", "details"})
"""Those of them that it may change in parts."""
_OF_THE_HUB = frozenset({SessionKind.SCANNED, SessionKind.UPLOADED})


def session_resource(session: records.ProfilerSession, base: str) -> Session:
    """A session as the API shows it, without a look at storage.

    Args:
        session: the session.
        base: address of this hub's pages, as `server.site.public_address` has it.
    """
    return Session(
        name=session_name(session.run, session.id),
        uid=session.uid,
        etag=session.etag,
        creator=session.creator,
        create_time=session.created,
        update_time=session.updated,
        display_name=session.display_name,
        storage_folder_uri=session.locations[0],
        storage_folder_uris=list(session.locations) if session.merged_from else None,
        merged_from=[session_name(session.run, origin.id) for origin in session.merged_from]
        or None,
        expected_hosts=session.expected_hosts,
        kind=session.kind,
        state=session.state,
        start_time=session.started,
        end_time=session.ended,
        targets={host: told for host, told in session.targets.items() if isinstance(told, dict)},
        details=dict(session.details),
        attempt=session.attempt,
        dashboard_uri=dashboard_uri(base, session.run, session.id),
        prewarm=shown_state(session, datetime.now(UTC)).value or None,
        expire_time=session.expires,
        pinned=session.is_pinned or None,
        held=session.is_held or None,
        delete_time=session.deleted,
    )


def with_hosts(
    record: records.ProfilerSession,
    files: SessionFiles,
    base: str,
    rows: Sequence[HostHealth] = (),
) -> Session:
    """A session with the hosts that are in storage now.

    Args:
        record: the session.
        files: its files.
        base: as in `session_resource`.
        rows: what the inspection says of them, as far as it is known.
    """
    count = count_hosts(record.expected_hosts, files.host_names, rows)
    problem = problem_of(count, rows)
    found = {
        "hosts": [
            SessionHost(host=entry.host, file=entry.file.name, size_bytes=entry.file.size)
            for entry in files.hosts
        ],
        "found_hosts": len(count.found),
        "expected_hosts": count.expected,
        "problem": problem.message if problem else None,
        "problem_reason": problem.reason if problem else None,
    }
    return session_resource(record, base).model_copy(update=found)


def with_problem(record: records.ProfilerSession, error: LoaderError, base: str) -> Session:
    """A session whose files can't be listed now.

    Args:
        record: the session.
        error: why they can't.
        base: as in `session_resource`.

    Raises:
        LoaderError: the given one, where it is a fault of ours.
    """
    if error.code is ErrorCode.INTERNAL:
        raise error
    problem = {"hosts": [], "problem": error.message, "problem_reason": error.code.value}
    return session_resource(record, base).model_copy(update=problem)


def chosen_kind(body: Session) -> SessionKind:
    """How a session that is attached came here; what only the hub can say is not believed."""
    if body.kind is None or body.kind in _OF_THE_HUB:
        return SessionKind.ATTACHED
    return body.kind


def session_changes(old: records.ProfilerSession, body: Session, mask: Mask) -> SessionChanges:
    """What a body changes in a session.

    What the mask names and the body lacks becomes empty; targets are merged into what is there, so that hosts
    that report one by one all stay.

    Raises:
        ApiError: naming the field that would become what it may not be.
    """
    expires = asked_expiry(body, old.expires, datetime.now(UTC))
    given = {
        "expected_hosts": body.expected_hosts,
        "started": body.start_time,
        "ended": body.end_time,
        "expires": expires,
    }
    named = {"started": "start_time", "ended": "end_time", "expires": "expire_time"}
    cleared = {
        name
        for name, value in given.items()
        if value is None and mask.covers(named.get(name, name))
    }
    if expires is None and mask.covers("ttl"):
        cleared.add("expires")
    changes = SessionChanges(
        display_name=(body.display_name or old.id) if mask.covers("display_name") else None,
        expected_hosts=body.expected_hosts if mask.covers("expected_hosts") else None,
        state=body.state if mask.covers("state") else None,
        started=body.start_time if mask.covers("start_time") else None,
        ended=body.end_time if mask.covers("end_time") else None,
        targets=_targets(old, body, mask),
        details=changed_document("details", old.details, body.details, mask),
        expires=expires if mask.covers("expire_time") or mask.covers("ttl") else None,
        is_pinned=bool(body.pinned) if mask.covers("pinned") else None,
        is_held=bool(body.held) if mask.covers("held") else None,
        cleared=frozenset(cleared),
    )
    started = None if "started" in cleared else changes.started or old.started
    ended = None if "ended" in cleared else changes.ended or old.ended
    require_order(started, ended)
    return changes


def asked_expiry(body: Session, old: datetime | None, now: datetime) -> datetime | None:
    """When a session is to end, as a body says; None where it does not, or says never.

    Args:
        body: what was sent.
        old: when it ends so far; a client may send that back, also when it is over.
        now: UTC.

    Raises:
        ApiError: both ways to say it were used, or the moment is over already or can't be read.
    """
    if body.ttl is None and body.expire_time is not None and body.expire_time == old:
        return old
    return expiry(Lifetime(expire_time=body.expire_time, ttl=body.ttl), now, None)


def require_order(started: datetime | None, ended: datetime | None) -> None:
    """Refuses an end before the start.

    Raises:
        ApiError: naming `endTime`.
    """
    if started is not None and ended is not None and ended < started:
        raise invalid_field("endTime", "This is before startTime.")


def _targets(old: records.ProfilerSession, body: Session, mask: Mask) -> dict[str, Json] | None:
    sent: dict[str, Json] = dict(body.targets)
    if mask.covers("targets") and not mask.is_star:
        return checked_size("targets", merged_document(old.targets, sent))
    changed = changed_document("targets", old.targets, sent, mask)
    if changed is not None and not all(isinstance(told, dict) for told in changed.values()):
        raise invalid_field("targets", "What is said of a host is an object.")
    return changed
