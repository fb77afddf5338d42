"""`/v1alpha/…/profilerSessions`: sessions as Google's managed API has them.

A session that is registered here is open: its files come when the hosts are through, and are found by looking
where the job writes.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import Query, Request

from server.audit.notes import note_audited
from server.http.aip import SORTABLE, next_page_token, page_request
from server.managed import session_values
from server.managed.access import (
    Parameters,
    PlaceDependency,
    SessionReader,
    SessionRegistrar,
    SessionWriter,
    managed_router,
)
from server.managed.errors import SESSION_TYPE, changed_meanwhile, exists
from server.managed.lookups import find_run
from server.managed.masks import Rules, updated
from server.managed.names import managed_session_name, place_name, session_id_of
from server.managed.operations import finish, operation_message
from server.managed.shapes import SESSION, read_message
from server.names import session_name
from server.registry import records, sessions
from server.registry.attempts import choose_attempt
from server.registry.database import Database
from server.registry.deleting import delete_session
from server.registry.errors import RegistryError, RegistryProblem
from server.registry.records import Json
from server.registry.session_changes import SessionChanges, change_session
from server.schemas import JsonObject, ResourceId
from server.services import ServicesDependency
from server.site.public_address import PageBase, dashboard_uri

router = managed_router("/machineLearningRuns/{run}/profilerSessions")
_RULES = Rules(SESSION, session_values.SERVER_SET)


class CreateParameters(Parameters):
    """Parameters of a creation."""

    profiler_session_id: str = ""


class UpdateParameters(Parameters):
    """Parameters of an update."""

    update_mask: str = ""


class ListParameters(Parameters):
    """Which page of the sessions."""

    page_size: int = 0
    page_token: str = ""


@router.post("", response_model=None)
def create(
    request: Request,
    services: ServicesDependency,
    principal: SessionRegistrar,
    place: PlaceDependency,
    base: PageBase,
    run: ResourceId,
    parameters: Annotated[CreateParameters, Query()],
    body: JsonObject,
) -> dict[str, Json]:
    """Registers a session; 409 with its name when it is there, so that a further host adds itself to it."""
    database = services.database
    known = find_run(database, place, run)
    session_id = session_id_of(parameters.profiler_session_id)
    fields = read_message(body, SESSION)
    attempt = choose_attempt(database, known.id, None)
    new = session_values.new_session(fields, known, session_id, attempt)
    try:
        created = sessions.create_session(
            database, known.id, new, creator=principal.name, now=datetime.now(UTC)
        )
    except RegistryError as error:
        if error.problem is not RegistryProblem.ALREADY_EXISTS:
            raise
        name = managed_session_name(known.parent, known.id, session_id)
        message = f"There is a session {session_id!r} already."
        raise exists(SESSION_TYPE, name, message) from error
    note_audited(request, session_name(known.id, created.id))
    return _done(database, "create", created, known.parent, base)


@router.get("", response_model=None)
def list_sessions(
    services: ServicesDependency,
    _principal: SessionReader,
    place: PlaceDependency,
    base: PageBase,
    run: ResourceId,
    parameters: Annotated[ListParameters, Query()],
) -> dict[str, Json]:
    """Lists a run's sessions, newest first."""
    known = find_run(services.database, place, run)
    context = ("managed sessions", known.uid)
    request = page_request(
        size=parameters.page_size,
        token=parameters.page_token,
        order_by="",
        sortable=SORTABLE,
        context=context,
    )
    page = sessions.list_sessions(services.database, known.id, request)
    return {
        "profilerSessions": [_shown(one, known.parent, base) for one in page.records],
        "nextPageToken": next_page_token(page.next, request, context),
    }


@router.get("/{session}", response_model=None)
def get(
    services: ServicesDependency,
    _principal: SessionReader,
    place: PlaceDependency,
    base: PageBase,
    run: ResourceId,
    session: ResourceId,
) -> dict[str, Json]:
    """Answers one session."""
    known = find_run(services.database, place, run)
    found = sessions.get_session(services.database, known.id, session)
    return _shown(found, known.parent, base)


@router.patch("/{session}", response_model=None)
def update(
    services: ServicesDependency,
    _principal: SessionRegistrar,
    place: PlaceDependency,
    base: PageBase,
    run: ResourceId,
    session: ResourceId,
    parameters: Annotated[UpdateParameters, Query()],
    body: JsonObject,
) -> dict[str, Json]:
    """Changes what the mask names; what hosts report of themselves is merged into what others did."""
    known = find_run(services.database, place, run)
    fields = read_message(body, SESSION)

    def decide(old: records.ProfilerSession) -> SessionChanges:
        if fields.get("etag") and fields["etag"] != session_values.etag_of(old):
            raise changed_meanwhile()
        before = session_values.settable_fields(old)
        after = updated(before, fields, parameters.update_mask, _RULES)
        return session_values.changes_to(after, old)

    now = datetime.now(UTC)
    changed = change_session(services.database, known.id, session, decide, etag=None, now=now)
    return _done(services.database, "update", changed, known.parent, base)


@router.delete("/{session}", response_model=None)
def delete(
    services: ServicesDependency,
    principal: SessionWriter,
    place: PlaceDependency,
    run: ResourceId,
    session: ResourceId,
) -> dict[str, Json]:
    """Takes a session off its run. The profile in storage is not touched."""
    known = find_run(services.database, place, run)
    now = datetime.now(UTC)
    delete_session(services.database, known.id, session, etag=None, now=now, by=principal.name)
    return {}


def _shown(session: records.ProfilerSession, parent: str, base: str) -> dict[str, Json]:
    address = dashboard_uri(base, session.run, session.id)
    return session_values.session_message(session, parent, address)


def _done(
    database: Database, verb: str, session: records.ProfilerSession, parent: str, base: str
) -> dict[str, Json]:
    name = managed_session_name(parent, session.run, session.id)
    done = finish(database, place_name(parent), verb, name)
    return operation_message(done, _shown(session, parent, base))
