"""The sessions that uploads make: made at the first host, complete at the last. Blocks on the database."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from loader.catalog import SessionFiles, digest_of, list_session
from loader.storage.base import Storage
from server.http.error_table import PRECONDITION
from server.http.errors import ApiError
from server.registry.attempts import choose_attempt
from server.registry.database import Database
from server.registry.errors import RegistryError, RegistryProblem
from server.registry.prewarm import PrewarmState, change_prewarm
from server.registry.records import ProfilerSession, SessionKind, SessionState
from server.registry.runs import get_run
from server.registry.session_changes import (
    SessionChanges,
    change_session,
    complete_session,
    note_look,
)
from server.registry.sessions import NewSession, create_session, get_session
from server.xprof.prewarm import Prewarmer

_SETTLED = frozenset({PrewarmState.NONE, PrewarmState.SKIPPED})


@dataclass(frozen=True)
class Completed:
    """A session that has become complete just now.

    Attributes:
        session: as it is now.
        files: its files.
    """

    session: ProfilerSession
    files: SessionFiles


def find_session(database: Database, run: str, session: str) -> ProfilerSession | None:
    """The session, or None when the run has none of this id.

    Raises:
        RegistryError: NOT_FOUND, there is no such run.
        ApiError: the session's files are not ours to write.
    """
    try:
        found = get_session(database, run, session)
    except RegistryError as error:
        if error.problem is not RegistryProblem.NOT_FOUND:
            raise
        get_run(database, run)
        return None
    if found.kind is not SessionKind.UPLOADED or found.merged_from:
        raise ApiError(
            PRECONDITION,
            f"Session {session!r} was not made by uploads: its files lie where the job wrote them, and "
            "nothing is written there. Upload into another session.",
        )
    return found


def open_session(
    database: Database,
    run: str,
    session: str,
    folder: str,
    *,
    expected_hosts: int | None,
    creator: str,
) -> ProfilerSession:
    """The session, made when it is not there.

    Args:
        database: the registry.
        run: id of the run.
        session: id of the session.
        folder: where its files go if it is made now.
        expected_hosts: how many hosts will come, if the client says so; never changed afterwards by this.
        creator: name of the caller.

    Raises:
        RegistryError: NOT_FOUND, there is no such run.
        ApiError: the session's files are not ours to write.
    """
    found = find_session(database, run, session)
    if found is None:
        new = NewSession(
            id=session,
            locations=(folder,),
            display_name=session,
            expected_hosts=expected_hosts,
            kind=SessionKind.UPLOADED,
            state=SessionState.OPEN,
            attempt=choose_attempt(database, run, None),
        )
        try:
            return create_session(database, run, new, creator=creator, now=datetime.now(UTC))
        except RegistryError as error:
            if error.problem is not RegistryProblem.ALREADY_EXISTS:
                raise
            found = find_session(database, run, session)  # another host was faster
    if found is None:
        raise RegistryError(RegistryProblem.NOT_FOUND, f"Session {session!r} was deleted.")
    if found.expected_hosts is None and expected_hosts is not None:
        return _expect(database, found, expected_hosts)
    return found


def _expect(database: Database, session: ProfilerSession, hosts: int) -> ProfilerSession:
    return change_session(
        database,
        session.run,
        session.id,
        lambda now: SessionChanges(expected_hosts=now.expected_hosts or hosts),
        etag=None,
        now=datetime.now(UTC),
    )


def complete(
    database: Database,
    storage: Storage,
    prewarmer: Prewarmer,
    session: ProfilerSession,
    *,
    is_asked: bool,
) -> Completed | None:
    """Closes an open session, when all hosts are there or its client says so; None when nothing changed.

    Only one of all callers gets it; it starts the conversion in advance.

    Raises:
        LoaderError: it has no files, or they can't be listed.
    """
    expected = session.expected_hosts
    if not is_asked and expected is None:
        return None
    files = list_session(storage, session.locations)
    if not is_asked and expected is not None and len(files.hosts) < expected:
        return None
    digest = digest_of(files.hosts)
    now = datetime.now(UTC)
    note_look(database, session.uid, digest, now=now)
    if not complete_session(database, session.uid, digest, now=now):
        return None
    state = prewarmer.first_state(files, expected)
    change_prewarm(database, session.uid, state, _SETTLED)
    return Completed(get_session(database, session.run, session.id), files)
