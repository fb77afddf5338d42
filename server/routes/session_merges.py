"""`profilerSessions:mergeable` and `:merge`: one session of hosts that landed in different folders.

A merged session points at the folders of those that it was made of. These stay as they are, and deleting the
merged one undoes the merge.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated

from fastapi import Depends, Query, Request
from starlette.concurrency import run_in_threadpool

from auth.identity import Principal
from auth.policy import Action
from loader.catalog import SessionFiles
from loader.errors import ErrorCode, LoaderError
from server.audit.notes import note_audited, note_unchanged
from server.callers.access import api_router, require
from server.http.error_table import PRECONDITION
from server.http.errors import ApiError, invalid_field
from server.http.repeated import RepeatableParameters, made_before, made_meanwhile, repeatable
from server.names import check_id, session_name
from server.registry import sessions
from server.registry.errors import RegistryError
from server.registry.records import ProfilerSession, SessionOrigin
from server.registry.requests import RepeatableRequest
from server.schemas import ResourceId, Session
from server.services import Services, ServicesDependency
from server.sessions.captures import (
    Capture,
    MergeOffer,
    find_offers,
    folder_time,
    offer_of,
    repeated_hosts,
    span_of,
    strangers,
    worth_reading,
)
from server.sessions.inspection import inspect_session
from server.sessions.resources import with_hosts
from server.sessions.schemas import MergeOffer as OfferResource
from server.sessions.schemas import MergeOfferList, NewMerge
from server.site.public_address import PageBase
from server.xprof.tool_answers import ToolAnswers

router = api_router("/v1/machineLearningRuns/{run}", "sessions")

MOST_SESSIONS = 200
"""Newest sessions of a run that are looked at for offers."""
_READ_AT_ONCE = 4
_MOST_NAMED = 20
_NO_CANDIDATE = frozenset(
    {
        ErrorCode.NOT_FOUND,
        ErrorCode.BUCKET_NOT_FOUND,
        ErrorCode.PERMISSION_DENIED,
        ErrorCode.MALFORMED,
    }
)
"""Why a session can't be listed, and so not merged either; all other errors are trouble of the moment."""


@router.get("/profilerSessions:mergeable", response_model_exclude_none=True)
async def list_merge_offers(
    services: ServicesDependency,
    _principal: Annotated[Principal, Depends(require(Action.SESSIONS_READ))],
    run: ResourceId,
) -> MergeOfferList:
    """Finds sessions that are hosts of one capture: captured at the same time, no host in two of them.

    Looks at the newest 200 sessions. Takes as long as reading the files whose folders' names don't rule them
    out, once for each version of them.
    """
    offers = await find_merge_offers(services, run)
    return MergeOfferList(merge_offers=tuple(_to_resource(run, offer) for offer in offers))


@router.post("/profilerSessions:merge", response_model_exclude_none=True)
async def merge_sessions(
    request: Request,
    services: ServicesDependency,
    principal: Annotated[Principal, Depends(require(Action.SESSIONS_WRITE))],
    run: ResourceId,
    parameters: Annotated[RepeatableParameters, Query()],
    body: NewMerge,
    base: PageBase,
) -> Session:
    """Makes one session of several that are hosts of one capture.

    These stay as they are, with their links; deleting the new one undoes the merge.
    """
    place = f"{session_name(run, '')}:merge"
    repeat = repeatable(principal, parameters.request_id, place, body)
    made = await run_in_threadpool(made_before, services.database, repeat)
    if made is None:
        try:
            created, files = await merge_captures(services, principal, run, body, repeat)
        except RegistryError as error:
            made = await run_in_threadpool(made_meanwhile, services.database, repeat, error)
        else:
            note_audited(request, session_name(run, created.id), sessions=[*body.sessions])
            return with_hosts(created, files, base)
    record = await run_in_threadpool(sessions.get_session, services.database, run, made)
    note_unchanged(request)
    return with_hosts(record, await ToolAnswers(services).list_session(record.locations), base)


async def find_merge_offers(services: Services, run: str) -> list[MergeOffer]:
    """What `:mergeable` answers, for whoever shows it.

    Raises:
        RegistryError: there is no such run.
        LoaderError: storage or workers don't answer.
    """
    free = await run_in_threadpool(
        sessions.list_free_sessions, services.database, run, MOST_SESSIONS
    )
    found = await _Captures(services).of_candidates(free)
    # Hundreds of sessions with hundreds of hosts each: too much to hold up everybody else for.
    return await run_in_threadpool(find_offers, found)


async def merge_captures(
    services: Services,
    principal: Principal,
    run: str,
    body: NewMerge,
    repeat: RepeatableRequest | None,
) -> tuple[ProfilerSession, SessionFiles]:
    """What `:merge` does: the new session, with its files.

    Raises:
        ApiError, RegistryError, LoaderError: why they can't be merged.
    """
    origins = await run_in_threadpool(_find_origins, services, run, body.sessions)
    captures = _Captures(services)
    listed = [await captures.list_files(origin) for origin in origins]
    await run_in_threadpool(_require_no_repeated_host, listed)
    known = [await captures.read_times(capture, files) for capture, files in listed]
    await run_in_threadpool(_require_same_time, known)
    new = _new_session(body, origins, offer_of(known))
    files = await ToolAnswers(services).list_session(new.locations)
    prewarm = services.prewarmer.first_state(files, new.expected_hosts)
    created = await run_in_threadpool(
        sessions.create_session,
        services.database,
        run,
        replace(new, prewarm=prewarm),
        creator=principal.name,
        now=datetime.now(UTC),
        request=repeat,
    )
    services.prewarmer.start(created, files)
    return created, files


class _Captures:
    """Finds out what is known of sessions' parts of captures."""

    def __init__(self, services: Services) -> None:
        self._answers = ToolAnswers(services)
        self._reading = asyncio.Semaphore(_READ_AT_ONCE)

    async def of_candidates(self, records: Sequence[ProfilerSession]) -> list[Capture]:
        """The sessions that can be listed, with the times of those for which they matter."""
        found = await asyncio.gather(*(self._list_candidate(record) for record in records))
        files = {pair[0].session: pair[1] for pair in found if pair is not None}
        listed = [pair[0] for pair in found if pair is not None]
        worth = await run_in_threadpool(worth_reading, listed)
        reading = (self._read_in_turn(capture, files[capture.session]) for capture in worth)
        return list(await asyncio.gather(*reading))

    async def list_files(self, record: ProfilerSession) -> tuple[Capture, SessionFiles]:
        """What a session's file names say.

        Raises:
            LoaderError: they can't be listed; the message names the session.
        """
        try:
            files = await self._answers.list_session(record.locations)
        except LoaderError as error:
            message = f"Session {record.id!r}: {error.message}"
            raise LoaderError(error.code, message, error.file) from error
        return Capture(record.id, files.host_names, folder_time(files)), files

    async def read_times(self, capture: Capture, files: SessionFiles) -> Capture:
        """Adds what the profiles state.

        Raises:
            LoaderError: the files can't be read, or no worker answers.
        """
        rows = await inspect_session(self._answers, files)
        span = span_of((row.start_ns, row.stop_ns) for row in rows if row.usable)
        return replace(capture, span=span)

    async def _list_candidate(self, record: ProfilerSession) -> tuple[Capture, SessionFiles] | None:
        try:
            return await self.list_files(record)
        except LoaderError as error:
            if error.code in _NO_CANDIDATE:
                return None
            raise

    async def _read_in_turn(self, capture: Capture, files: SessionFiles) -> Capture:
        async with self._reading:
            return await self.read_times(capture, files)


def _find_origins(services: Services, run: str, names: Sequence[str]) -> list[ProfilerSession]:
    """The sessions of these ids or resource names, in order of their ids.

    Raises:
        ApiError: a name is of another run, or twice there, or that of a merged session.
        RegistryError: there is no such session.
    """
    prefix = session_name(run, "")
    found: dict[str, ProfilerSession] = {}
    for name in names:
        session_id = name.removeprefix(prefix)
        if "/" in session_id:
            raise invalid_field("sessions", f"{name!r} is not a session of the run {run!r}.")
        if session_id in found:
            raise invalid_field("sessions", f"Session {session_id!r} is there twice.")
        record = sessions.get_session(services.database, run, session_id)
        if record.merged_from:
            parts = ", ".join(origin.id for origin in record.merged_from)
            raise invalid_field(
                "sessions",
                f"Session {session_id!r} is a merged one itself. Name those that it was made of: {parts}.",
            )
        found[session_id] = record
    return [found[session_id] for session_id in sorted(found)]


def _require_no_repeated_host(listed: Sequence[tuple[Capture, SessionFiles]]) -> None:
    repeated = repeated_hosts([capture for capture, _ in listed])
    if not repeated:
        return
    details = [
        {"reason": "repeated_host", "description": f"{host} is in {', '.join(found)}"}
        for host, found in sorted(repeated.items())[:_MOST_NAMED]
    ]
    host, found = min(repeated.items())
    raise ApiError(
        PRECONDITION,
        f"Host {host!r} is in more than one of these sessions ({', '.join(found)}). The same host twice is "
        "never merged: these are different captures.",
        details,
    )


def _require_same_time(captures: Sequence[Capture]) -> None:
    pair = strangers(captures)
    if pair is None:
        return
    first, second = (capture.session for capture in pair)
    if all(capture.span for capture in pair):
        reason = "Their profiles' times don't overlap."
    else:
        reason = (
            "Not both state when they were captured, and the names of their folders are not times "
            "within a minute."
        )
    raise ApiError(
        PRECONDITION,
        f"Sessions {first!r} and {second!r} were not captured at the same time. {reason}",
        [{"reason": "no_overlap", "description": f"{first}, {second}"}],
    )


def _new_session(
    body: NewMerge, origins: Sequence[ProfilerSession], offer: MergeOffer
) -> sessions.NewSession:
    """What is made of sessions that may be merged; the folders in order of the sessions' ids."""
    first = offer.sessions[0]
    expected = [origin.expected_hosts for origin in origins if origin.expected_hosts]
    return sessions.NewSession(
        id=body.profiler_session_id or _own_id(first),
        locations=tuple(location for origin in origins for location in origin.locations),
        display_name=body.display_name or f"{first} and {len(origins) - 1} more",
        expected_hosts=max([len(offer.hosts), *expected]),
        merged_from=tuple(SessionOrigin(origin.id, origin.uid) for origin in origins),
    )


def _own_id(first: str) -> str:
    try:
        return check_id(f"{first}-merged")
    except ValueError as error:
        raise invalid_field("profilerSessionId", f"{error} Choose one yourself.") from error


def _to_resource(run: str, offer: MergeOffer) -> OfferResource:
    return OfferResource(
        sessions=[session_name(run, session) for session in offer.sessions],
        hosts=list(offer.hosts),
        basis=offer.basis.value,
        start_time=offer.start,
        end_time=offer.end,
        overlap_seconds=offer.overlap_seconds,
    )
