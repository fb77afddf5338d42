"""`profilerSessions`: attach a profile in storage to a run, list, read and take off sessions.

A session is a pointer: what lies in storage is looked at when it is attached and each time it is read, and
is never copied into the registry.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import anyio.from_thread
from fastapi import Depends, Query, Request, Response
from starlette.concurrency import run_in_threadpool

from auth.identity import Principal, Role
from auth.policy import Action
from loader.catalog import SessionFiles, find_sessions, host_of, list_session
from loader.errors import ErrorCode, LoaderError
from loader.storage.base import Storage
from server.audit.notes import note_audited
from server.callers.access import api_router, require
from server.discovery.finding import can_be_told
from server.filters import SESSION_FIELDS as SESSION_FILTER
from server.filters import read_filter
from server.http.aip import SORTABLE, expected_etag, next_page_token, page_request
from server.http.error_table import FORBIDDEN, INVALID
from server.http.errors import ApiError, invalid_field
from server.http.masks import read_mask
from server.http.repeated import RepeatableParameters, make_once, repeatable
from server.lifecycle.restoring import bring_session_back
from server.lifecycle.showing import require_may_hold, with_keeping, with_purge_times
from server.names import check_id, session_name
from server.registry import deleting, runs, sessions
from server.registry.attempts import choose_attempt
from server.registry.records import ProfilerSession, Run, SessionState
from server.registry.requests import RepeatableRequest
from server.registry.session_changes import SessionChanges, change_session
from server.routes.runs import DeleteParameters, IfMatch, UpdateParameters
from server.schemas import EmptyAnswer, ResourceId, Session, SessionList, SessionListParameters
from server.services import Services, ServicesDependency
from server.sessions.inspection import recall_inspection
from server.sessions.resources import (
    SESSION_DOCUMENTS,
    SESSION_FIELDS,
    asked_expiry,
    chosen_kind,
    require_order,
    session_changes,
    session_resource,
    with_hosts,
    with_problem,
)
from server.site.public_address import PageBase
from server.xprof.tool_answers import ToolAnswers

router = api_router("/v1/machineLearningRuns/{run}/profilerSessions", "sessions")

_MOST_NAMED = 20

Reader = Annotated[Principal, Depends(require(Action.SESSIONS_READ))]
Writer = Annotated[Principal, Depends(require(Action.SESSIONS_WRITE))]
Registrar = Annotated[Principal, Depends(require(Action.SESSIONS_REGISTER))]


class AttachParameters(RepeatableParameters):
    """Parameters of attaching."""

    profiler_session_id: ResourceId | None = None
    """Id of the session; the name of its folder or file when it is missing."""
    prewarm: bool = True
    """Whether to convert at once what the session's first page asks for, if this hub does so at all."""


@router.post("", response_model_exclude_none=True)
def attach_session(
    request: Request,
    services: ServicesDependency,
    principal: Registrar,
    run: ResourceId,
    parameters: Annotated[AttachParameters, Query()],
    body: Session,
    base: PageBase,
) -> Session:
    """Attaches the profile at `storageFolderUri` to a run.

    The location may be a session's folder, a single `.xplane.pb` file, or a log directory with exactly one
    session in it.
    """
    if not body.storage_folder_uri:
        raise invalid_field("storageFolderUri", "Say where the profile is.")
    require_order(body.start_time, body.end_time)
    _require_place_of_job(principal, runs.get_run(services.database, run), body.storage_folder_uri)
    wanted = parameters.profiler_session_id
    place = session_name(run, "")
    repeat = repeatable(principal, parameters.request_id, place, body, wanted)

    def make() -> Session:
        return _attach(services, principal, run, parameters, body, base, repeat)

    def find(session: str) -> Session:
        record = sessions.get_session(services.database, run, session)
        try:
            return with_hosts(record, list_session(services.storage, record.locations), base)
        except LoaderError as error:
            return with_problem(record, error, base)

    made = make_once(services.database, repeat, make, find)
    note_audited(request, made.name)
    return made


@router.get("", response_model_exclude_none=True)
def list_sessions(
    services: ServicesDependency,
    _principal: Reader,
    run: ResourceId,
    parameters: Annotated[SessionListParameters, Query()],
    base: PageBase,
) -> SessionList:
    """Lists a run's sessions, newest first unless `orderBy` says otherwise, without their hosts."""
    context = (
        "sessions",
        run,
        parameters.filter,
        *(["deleted"] if parameters.show_deleted else []),
    )
    request = page_request(
        size=parameters.page_size,
        token=parameters.page_token,
        order_by=parameters.order_by,
        sortable=SORTABLE,
        context=context,
    )
    condition = read_filter(parameters.filter, SESSION_FILTER)
    page = sessions.list_sessions(
        services.database, run, request, condition, with_deleted=parameters.show_deleted
    )
    shown = [session_resource(session, base) for session in page.records]
    shown = with_keeping(services.database, with_purge_times(services.settings, shown))
    return SessionList(
        profiler_sessions=shown,
        next_page_token=next_page_token(page.next, request, context),
    )


@router.get("/{session}", response_model_exclude_none=True)
async def get_session(
    services: ServicesDependency,
    _principal: Reader,
    run: ResourceId,
    session: ResourceId,
    response: Response,
    base: PageBase,
) -> Session:
    """Answers one session with the hosts that are in storage now; `problem` says what is wrong with them.

    Files are not read for this: damaged ones, and hosts that only a profile names, are known once the session
    was opened or its health was asked for.
    """
    record = await run_in_threadpool(sessions.get_session, services.database, run, session)
    response.headers["ETag"] = f'"{record.etag}"'
    answers = ToolAnswers(services)
    try:
        files = await answers.list_session(record.locations)
    except LoaderError as error:
        shown = with_problem(record, error, base)
    else:
        shown = with_hosts(record, files, base, await recall_inspection(answers, files))
    return (await run_in_threadpool(with_keeping, services.database, [shown]))[0]


@router.patch("/{session}", response_model_exclude_none=True)
def update_session(
    services: ServicesDependency,
    principal: Writer,
    run: ResourceId,
    session: ResourceId,
    parameters: Annotated[UpdateParameters, Query()],
    body: Session,
    base: PageBase,
    if_match: IfMatch = None,
) -> Session:
    """Changes the fields of the mask. 409 when the session is not as the etag says; then nothing changes.

    `targets` are merged into what is there, host by host; `targets.HOST` replaces what is said of one host,
    and `*` replaces all of it. Its place in storage never changes.
    """
    if body.name and body.name != session_name(run, session):
        raise invalid_field("name", "This is the name of another session than the one in the path.")
    mask = read_mask(
        parameters.update_mask,
        fields=SESSION_FIELDS,
        documents=SESSION_DOCUMENTS,
        sent=body.model_fields_set,
    )

    def decide(old: ProfilerSession) -> SessionChanges:
        changes = session_changes(old, body, mask)
        require_may_hold(principal, session_name(run, session), old.is_held, changes.is_held)
        return changes

    changed = change_session(
        services.database,
        run,
        session,
        decide,
        etag=expected_etag(body.etag, if_match),
        now=datetime.now(UTC),
    )
    return with_keeping(services.database, [session_resource(changed, base)])[0]


@router.delete("/{session}")
def delete_session(
    services: ServicesDependency,
    principal: Writer,
    run: ResourceId,
    session: ResourceId,
    parameters: Annotated[DeleteParameters, Query()],
    if_match: IfMatch = None,
) -> EmptyAnswer:
    """Takes a session off its run and ends its links. The profile in storage is not touched.

    The sessions that a merged one was made of stay. One that was made of this session keeps its hosts. For
    some days it can be brought back with `:undelete`. 409 while there is a hold on it, its run or its group.
    """
    etag = expected_etag(parameters.etag, if_match)
    now = datetime.now(UTC)
    deleting.delete_session(services.database, run, session, etag=etag, now=now, by=principal.name)
    return EmptyAnswer()


@router.post("/{session}:undelete", response_model_exclude_none=True)
def undelete_session(
    services: ServicesDependency,
    _principal: Writer,
    run: ResourceId,
    session: ResourceId,
    base: PageBase,
) -> Session:
    """Brings back the session of this id that was deleted last; its links stay ended.

    One whose time is over is pinned, or it would be deleted again. 409 when another session has its id by
    now, 404 when there is none that could come back.
    """
    database = services.database
    record = bring_session_back(database, run, session, now=datetime.now(UTC))
    return with_keeping(database, [session_resource(record, base)])[0]


def _require_place_of_job(principal: Principal, run: Run, location: str) -> None:
    """Refuses a job that attaches what does not lie where its run says that it writes.

    One token serves all jobs of a team: without this it would open every folder in the storage roots to
    whoever finds it. A run that says nothing of where it writes is not bound.

    Raises:
        ApiError: 403.
    """
    root = run.storage_root.rstrip("/")
    if principal.role is not Role.INGEST or not root:
        return
    # Steps upwards are refused by the storage itself.
    if not f"{location.rstrip('/')}/".startswith(f"{root}/"):
        raise ApiError(
            FORBIDDEN,
            "A job may attach what lies below its run's storageRoot only. Somebody with the role editor may "
            "attach other folders.",
        )


def _attach(
    services: Services,
    principal: Principal,
    run: str,
    parameters: AttachParameters,
    body: Session,
    base: str,
    repeat: RepeatableRequest | None,
) -> Session:
    files = _only_session(services.storage, body.storage_folder_uri)
    session_id = parameters.profiler_session_id or _own_name(files.locations[0])
    require_may_hold(principal, session_name(run, session_id), False, body.held)
    now = datetime.now(UTC)
    new = sessions.NewSession(
        id=session_id,
        locations=files.locations,
        display_name=body.display_name or session_id,
        expected_hosts=body.expected_hosts,
        prewarm=services.prewarmer.first_state(
            files, body.expected_hosts, is_wanted=parameters.prewarm
        ),
        kind=chosen_kind(body),
        state=body.state or SessionState.COMPLETE,
        started=body.start_time,
        ended=body.end_time,
        targets=dict(body.targets),
        details=body.details,
        attempt=choose_attempt(services.database, run, body.attempt),
        expires=asked_expiry(body, None, now),
        is_pinned=bool(body.pinned),
        is_held=bool(body.held),
    )
    created = sessions.create_session(
        services.database, run, new, creator=principal.name, now=now, request=repeat
    )
    anyio.from_thread.run_sync(services.prewarmer.start, created, files)
    return with_keeping(services.database, [with_hosts(created, files, base)])[0]


def _only_session(storage: Storage, location: str) -> SessionFiles:
    """The one session at or below a location.

    Raises:
        LoaderError: it may not be read, or there is none.
        ApiError: there are several; the details name them.
    """
    found = find_sessions(storage, location)
    if not found:
        raise LoaderError(
            ErrorCode.NOT_FOUND,
            "There is no profile at this location: neither a file ending in .xplane.pb, nor a session in "
            "plugins/profile below it. Check the address, or wait until the job has uploaded.",
        )
    if len(found) > 1:
        details = [
            {"field": "storageFolderUri", "description": place} for place in found[:_MOST_NAMED]
        ]
        message = f"There are {len(found)} sessions at this location; name one of them."
        raise ApiError(INVALID, message, details)
    if not can_be_told(found[0]):
        message = "The address of the profile there is too long, or has control characters in it."
        raise invalid_field("storageFolderUri", message)
    return list_session(storage, (found[0],))


def _own_name(location: str) -> str:
    """The session's id by the name of its folder, or of its file without the ending.

    Raises:
        ApiError: the name can't be an id.
    """
    name = location.rstrip("/").rpartition("/")[2]
    try:
        return check_id(host_of(name) or name)
    except ValueError as error:
        message = f"The folder's name can't be an id. {error} Choose one yourself."
        raise invalid_field("profilerSessionId", message) from error
