"""`profilerSessions`: attach a profile in storage to a run, list, read and take off sessions.

A session is a pointer: what lies in storage is looked at when it is attached and each time it is read, and
is never copied into the registry.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated

import anyio.from_thread
from fastapi import Depends, Header, Query, Response
from starlette.concurrency import run_in_threadpool

from auth.identity import Principal
from auth.policy import Action
from loader.catalog import SessionFiles, find_sessions, host_of, list_session
from loader.errors import ErrorCode, LoaderError
from loader.storage.base import Storage
from server.access import api_router, require
from server.aip import expected_etag, next_page_token, page_request
from server.error_table import INVALID
from server.errors import ApiError, invalid_field
from server.names import check_id, session_name
from server.prewarm import shown_state
from server.registry import records, runs, sessions
from server.routes.runs import SORTABLE, DeleteParameters
from server.schemas import (
    ApiModel,
    EmptyAnswer,
    ResourceId,
    Session,
    SessionHost,
    SessionList,
    SortedListParameters,
)
from server.services import ServicesDependency
from server.session_inspection import recall_inspection
from server.session_problems import count_hosts, problem_of
from server.session_schemas import HostHealth
from server.tool_answers import ToolAnswers

router = api_router("/v1/machineLearningRuns/{run}/profilerSessions", "sessions")

_MOST_NAMED = 20

Reader = Annotated[Principal, Depends(require(Action.SESSIONS_READ))]
Writer = Annotated[Principal, Depends(require(Action.SESSIONS_WRITE))]


class AttachParameters(ApiModel):
    """Parameters of attaching."""

    profiler_session_id: ResourceId | None = None
    """Id of the session; the name of its folder or file when it is missing."""
    prewarm: bool = True
    """Whether to convert at once what the session's first page asks for, if this hub does so at all."""


@router.post("", response_model_exclude_none=True)
def attach_session(
    services: ServicesDependency,
    principal: Writer,
    run: ResourceId,
    parameters: Annotated[AttachParameters, Query()],
    body: Session,
) -> Session:
    """Attaches the profile at `storageFolderUri` to a run.

    The location may be a session's folder, a single `.xplane.pb` file, or a log directory with exactly one
    session in it.
    """
    runs.get_run(services.database, run)
    files = _only_session(services.storage, body.storage_folder_uri)
    session_id = parameters.profiler_session_id or _own_name(files.locations[0])
    new = sessions.NewSession(
        id=session_id,
        locations=files.locations,
        display_name=body.display_name or session_id,
        expected_hosts=body.expected_hosts,
        prewarm=services.prewarmer.first_state(
            files, body.expected_hosts, is_wanted=parameters.prewarm
        ),
    )
    now = datetime.now(UTC)
    created = sessions.create_session(services.database, run, new, creator=principal.name, now=now)
    anyio.from_thread.run_sync(services.prewarmer.start, created, files)
    return with_hosts(created, files)


@router.get("", response_model_exclude_none=True)
def list_sessions(
    services: ServicesDependency,
    _principal: Reader,
    run: ResourceId,
    parameters: Annotated[SortedListParameters, Query()],
) -> SessionList:
    """Lists a run's sessions, newest first unless `orderBy` says otherwise, without their hosts."""
    context = ("sessions", run)
    request = page_request(
        size=parameters.page_size,
        token=parameters.page_token,
        order_by=parameters.order_by,
        sortable=SORTABLE,
        context=context,
    )
    page = sessions.list_sessions(services.database, run, request)
    return SessionList(
        profiler_sessions=[to_resource(session) for session in page.records],
        next_page_token=next_page_token(page.next, request, context),
    )


@router.get("/{session}", response_model_exclude_none=True)
async def get_session(
    services: ServicesDependency,
    _principal: Reader,
    run: ResourceId,
    session: ResourceId,
    response: Response,
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
        if error.code is ErrorCode.INTERNAL:
            raise
        problem = {"hosts": [], "problem": error.message, "problem_reason": error.code.value}
        return to_resource(record).model_copy(update=problem)
    return with_hosts(record, files, await recall_inspection(answers, files))


@router.delete("/{session}")
def delete_session(
    services: ServicesDependency,
    _principal: Writer,
    run: ResourceId,
    session: ResourceId,
    parameters: Annotated[DeleteParameters, Query()],
    if_match: Annotated[str | None, Header()] = None,
) -> EmptyAnswer:
    """Takes a session off its run and ends its links. The profile in storage is not touched.

    The sessions that a merged one was made of stay. One that was made of this session keeps its hosts.
    """
    etag = expected_etag(parameters.etag, if_match)
    sessions.delete_session(services.database, run, session, etag=etag, now=datetime.now(UTC))
    return EmptyAnswer()


def to_resource(session: records.ProfilerSession) -> Session:
    """A session as the API shows it, without a look at storage."""
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
        prewarm=shown_state(session, datetime.now(UTC)).value or None,
    )


def with_hosts(
    record: records.ProfilerSession, files: SessionFiles, rows: Sequence[HostHealth] = ()
) -> Session:
    """A session with the hosts that are in storage now.

    Args:
        record: the session.
        files: its files.
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
    return to_resource(record).model_copy(update=found)


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
