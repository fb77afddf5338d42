"""How jobs register themselves, as Google's SDK in self-hosted mode does it.

A job must not suffer from what watches it: the SDK ends the job on a status above 399, so a registration is
refused for its credentials or its length only. It says no more to the caller than a job needs to know.
"""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from typing import Annotated
from urllib.parse import parse_qsl

from fastapi import Depends, Request, Response
from fastapi.responses import JSONResponse
from pydantic import Field
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect
from starlette.routing import Match
from starlette.types import Scope

from auth.identity import Principal
from auth.policy import Action
from server.audit.notes import note_audited, note_unchanged
from server.callers.access import ApiRoute, Handler, api_router, require
from server.http.errors import ApiError
from server.http.repeated import make_once
from server.ingest.registration import Registration, changes_of, read_registration
from server.names import run_name, to_snake
from server.registry import registrations, runs
from server.registry.errors import RegistryError
from server.registry.records import Attempt, Json
from server.registry.requests import RepeatableRequest, fingerprint_of
from server.schemas import ApiModel, ResourceId
from server.services import Services, ServicesDependency, get_services
from server.sessions.run_resources import WORKLOAD_STATES

logger = logging.getLogger(__name__)
ATTEMPT_COOKIE = "xprof-hub-attempt"
"""Tells a job its attempt. Its client keeps cookies, so what it reports later is about that one."""
_LONGEST_REQUEST_ID = 100

_PARAMETERS = {
    "updateMask": "Fields to change in a run that is there; all that the body holds unless set.",
    "allowMissing": "Sent by the SDK; a run that is not there is made in any case.",
    "requestId": "Makes sending it again harmless for a day: the same request begins no second attempt.",
}

Registrar = Annotated[Principal, Depends(require(Action.RUNS_REGISTER))]


class Registered(ApiModel):
    """What a job is told of its run."""

    name: str = ""
    """Resource name; empty when nothing could be stored."""
    cluster_id: str = ""
    attempt: int | None = None
    """Number of the attempt that this registration began."""
    warnings: list[str] = Field(default_factory=list)
    """What could not be taken as it was sent, or is odd."""


class TolerantRoute(ApiRoute):
    """A route that lets a job go on whatever fails here, but for what the job can't be let in with."""

    def get_route_handler(self) -> Handler:
        """The handler, which answers 200 for faults of ours."""
        inner = super().get_route_handler()

        async def handle(request: Request) -> Response:
            try:
                return await inner(request)
            except (ApiError, RegistryError, ClientDisconnect):
                raise
            except Exception:
                get_services(request).metrics.lost_registrations.inc()
                logger.exception("a job's registration is lost")
                warning = "XProf Hub could not store this. Its log says why."
                return JSONResponse({"warnings": [warning]}, headers={"Cache-Control": "no-store"})

        return handle


class ReportRoute(ApiRoute):
    """A route for reports of a job's state only; all other changes of a run go by."""

    # They come every few seconds, and the run itself says how its attempts ended.
    is_audited = False

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """As any route, if the query is that of a report."""
        match, child = super().matches(scope)
        return (match, child) if _is_report(scope) else (Match.NONE, {})


router = api_router("/v1/machineLearningRuns", "jobs")
router.route_class = TolerantRoute
reports = api_router("/v1/machineLearningRuns", "jobs")
reports.route_class = ReportRoute


@router.patch(
    "",
    response_model_exclude_none=True,
    openapi_extra={
        "parameters": [
            {
                "name": name,
                "in": "query",
                "required": False,
                "description": description,
                "schema": {"type": "string"},
            }
            for name, description in _PARAMETERS.items()
        ],
        "requestBody": {
            "content": {
                "application/json": {
                    "schema": {"type": "object"},
                    "example": {
                        "logicalId": "llama-3",
                        "displayName": "Llama 3",
                        "baseBlobPath": "gs://my-bucket/runs",
                    },
                }
            }
        },
    },
)
async def register_run(
    request: Request, services: ServicesDependency, principal: Registrar, response: Response
) -> Registered:
    """Makes the run that a job names by `logicalId`, or begins the next attempt of the one that is there.

    For jobs: it takes fields as Google's SDK sends them, keeps unknown ones, and refuses nothing but bad
    credentials; what is odd becomes a warning. `requestId` makes sending it again begin no second attempt.
    """
    body = _object(await request.body())
    if body is None:
        note_unchanged(request)
        return Registered(warnings=["The body is not a JSON object, so nothing was stored."])
    query = {to_snake(key): value for key, value in request.query_params.items()}
    mask = query.get("update_mask", "")
    registration = read_registration(body, mask, services.settings.may_read)
    request_id = query.get("request_id", "")[:_LONGEST_REQUEST_ID]
    asked = fingerprint_of("registrations", body, mask)
    repeat = RepeatableRequest(principal.name, request_id, asked) if request_id else None
    attempt = await run_in_threadpool(_register, services, registration, principal, repeat)
    name = run_name(registration.run_id)
    note_audited(request, name, verb="register", attempt=attempt.number)
    response.set_cookie(
        ATTEMPT_COOKIE,
        f"{registration.run_id}.{attempt.number}".encode().hex(),
        # It is no secret, and jobs inside a cluster may well come without TLS.
        httponly=True,
        samesite="strict",
    )
    cluster = registration.others.get("clusterId")
    return Registered(
        name=name,
        cluster_id=cluster if isinstance(cluster, str) else "",
        attempt=attempt.number,
        warnings=list(registration.warnings),
    )


@reports.patch("/{run}", include_in_schema=False, response_model_exclude_none=True)
async def report_state(
    request: Request, services: ServicesDependency, _principal: Registrar, run: ResourceId
) -> Registered:
    """Notes how the job of a run is doing, or how it ended."""
    body = _object(await request.body()) or {}
    warnings = await run_in_threadpool(_report, services, run, body, _attempt_of(request, run))
    return Registered(name=run_name(run), warnings=warnings)


def _register(
    services: Services,
    registration: Registration,
    principal: Principal,
    repeat: RepeatableRequest | None,
) -> Attempt:
    database, run_id = services.database, registration.run_id

    def begin(request: RepeatableRequest | None) -> Attempt:
        _, attempt = registrations.register_attempt(
            database,
            run_id,
            lambda run, last: changes_of(registration, run, last),
            registration.details,
            creator=principal.name,
            now=datetime.now(UTC),
            request=request,
        )
        return attempt

    def find(number: str) -> Attempt:
        begun = registrations.find_registration(database, run_id, int(number))
        # Somebody has deleted the run, but the job is there.
        return begun if begun is not None else begin(None)

    return make_once(database, repeat, lambda: begin(repeat), find)


def _report(services: Services, run: str, body: dict[str, Json], attempt: int | None) -> list[str]:
    workload = body.get("workload")
    told = workload.get("state") if isinstance(workload, dict) else None
    state = WORKLOAD_STATES.get(told) if isinstance(told, str) else None
    now = datetime.now(UTC)
    if state is None:
        warning = "The job reported a state that is not known here."
        runs.add_warning(services.database, run, warning, now=now)
        return [warning]
    registrations.report_state(services.database, run, state, attempt=attempt, now=now)
    return []


def _attempt_of(request: Request, run: str) -> int | None:
    """The attempt that the job's cookie names, if it is one of this run."""
    try:
        told = bytes.fromhex(request.cookies.get(ATTEMPT_COOKIE, "")).decode()
    except ValueError:
        return None
    named, _, number = told.rpartition(".")
    is_number = number.isascii() and number.isdigit() and len(number) < 10
    return int(number) if named == run and is_number else None


def _is_report(scope: Scope) -> bool:
    """Whether a query is what the SDK sends with a state: its mask, and `allow_missing`."""
    pairs = parse_qsl(scope["query_string"].decode(errors="replace"))
    query = {to_snake(key): value for key, value in pairs}
    return query.get("update_mask") == "workload.state" and "allow_missing" in query


def _object(content: bytes) -> dict[str, Json] | None:
    """The body's JSON object; None for anything else."""
    try:
        value: Json = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
