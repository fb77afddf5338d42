"""Who calls, and whether they may: the dependency that every protected route has.

A route of the API uses `ApiRoute`, which finds the caller before it reads the body, and asks `require` for
an action. A route that asks for nothing gets no caller.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, ClassVar, TypeAlias
from urllib.parse import urlsplit

from fastapi import APIRouter, Request, Response
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool

from auth.identity import LOCAL_ADMIN, Principal, as_job, identify, identify_token, is_basic
from auth.policy import Action, may
from auth.tokens import API_PREFIX
from server.audit.notes import note_actor
from server.audit.requests import may_be_change, write_change
from server.callers.iap import find_iap_caller
from server.http.error_table import BODY_TOO_LARGE, FORBIDDEN, UNAUTHENTICATED
from server.http.errors import ApiError
from server.http.job_path import token_of_path
from server.http.limited_body import MAX_BODY_BYTES, BodyTooLargeError, read_limited_body
from server.names import (
    group_name,
    link_name,
    member_name,
    operation_name,
    run_name,
    session_name,
    token_name,
)
from server.registry.tokens import SqlTokenStore
from server.schemas import ErrorResponse
from server.services import Services, get_services
from server.settings import LOOPBACK

_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_RESOURCES: Mapping[str, Callable[[str], str]] = MappingProxyType(
    {
        "link": link_name,
        "token": token_name,
        "member": member_name,
        "operation": operation_name,
        "group": group_name,
    }
)
"""What a parameter of a path names, where it stands for itself."""
_STRANGE_SITES = frozenset({"cross-site", "same-site"})

Handler: TypeAlias = Callable[[Request], Coroutine[Any, Any, Response]]


def find_principal(request: Request, services: Services) -> Principal:
    """The caller of a request; blocks on the database.

    Raises:
        ApiError: 401 without a working API token, unless Google's proxy vouches for the caller; 403 when
            another site led a browser here, when the token in a job's path is none that a job may use, or
            when the proxy vouches for somebody without a role.
    """
    path_token = token_of_path(request)
    if services.settings.auth == "dev":
        refuse_foreign_host(request)
        refuse_foreign_site(request)
        return LOCAL_ADMIN if path_token is None else as_job(LOCAL_ADMIN)
    store, now = SqlTokenStore(services.database), datetime.now(UTC)
    if path_token is not None:
        return _job(identify_token(store, path_token, now))
    authorization = request.headers.get("authorization")
    if is_basic(authorization):
        # No browser sends a bearer token by itself, but every browser repeats these.
        refuse_foreign_site(request)
    caller = identify(store, authorization, now)
    # Google's proxy may use the header itself; only a token of ours takes the place of what it says.
    is_proxied = services.sign_ins.iap is not None and API_PREFIX not in (authorization or "")
    if caller is None and is_proxied:
        refuse_foreign_site(request)
        caller = find_iap_caller(request, services)
    return _known(caller)


def _job(principal: Principal | None) -> Principal:
    """The caller of a path with a token, which lets nobody do more than a job.

    Raises:
        ApiError: 401, or 403 for a token that may register nothing.
    """
    if not may(_known(principal), Action.RUNS_REGISTER, "machineLearningRuns"):
        raise ApiError(FORBIDDEN, f"This needs the permission {Action.RUNS_REGISTER.value}.")
    return as_job(_known(principal))


def _known(principal: Principal | None) -> Principal:
    if principal is None:
        raise ApiError(
            UNAUTHENTICATED,
            "Send a valid API token as 'Authorization: Bearer xpa_...'.",
            headers={"WWW-Authenticate": 'Bearer realm="xprof-hub"'},
        )
    return principal


def refuse_foreign_host(request: Request) -> None:
    """Refuses a request to another name than this machine's own.

    A development server trusts everyone who reaches it. A web page whose name was rebound to 127.0.0.1
    reaches it too, but can't hide that name.

    Raises:
        ApiError: 403.
    """
    if _hostname(f"//{request.headers.get('host', '')}") not in LOOPBACK:
        raise ApiError(
            FORBIDDEN,
            "With XPROF_HUB_AUTH=dev this server answers to localhost and 127.0.0.1 only.",
        )


def refuse_foreign_site(request: Request) -> None:
    """Refuses a change that a page of another site made the browser ask for.

    Raises:
        ApiError: 403.
    """
    if request.method in _SAFE_METHODS:
        return
    origin = request.headers.get("origin")
    strange = request.headers.get("sec-fetch-site", "").lower() in _STRANGE_SITES
    if strange or (origin is not None and not _is_ours(origin, request)):
        raise ApiError(FORBIDDEN, "This change was asked for by a page of another site.")


def require(action: Action) -> Callable[[Request], Coroutine[Any, Any, Principal]]:
    """A dependency that gives the caller, if it may do this to the resource of the request's path."""

    # It waits for nothing, and so needs no thread of its own.
    async def check(request: Request) -> Principal:
        principal = getattr(request.state, "principal", None)
        known = principal if isinstance(principal, Principal) else None
        if known is None or not may(known, action, _resource(request)):
            raise ApiError(FORBIDDEN, f"This needs the permission {action.value}.")
        note_actor(request, known, action.value)
        return known

    return check


class ApiRoute(APIRoute):
    """A route that knows its caller before it reads the body, and reads no more than it should."""

    streams_body: ClassVar[bool] = False
    """Whether the endpoint reads the body itself, and limits it."""
    is_audited: ClassVar[bool] = True
    """Whether what it changes is written down in the audit log."""

    def get_route_handler(self) -> Handler:
        """The handler, guarded."""
        inner = super().get_route_handler()

        async def handle(request: Request) -> Response:
            services = get_services(request)
            request.state.principal = await run_in_threadpool(find_principal, request, services)
            if not self.streams_body:
                request = LimitedRequest(request.scope, request.receive)
                await request.body()
            response = await inner(request)
            response.headers.setdefault("Cache-Control", "no-store")
            # A part of an upload (308) changes nothing that anybody sees.
            if self.is_audited and may_be_change(request) and response.status_code < 300:
                await run_in_threadpool(write_change, request, services, _resource(request))
            return response

        return handle


class StreamedRoute(ApiRoute):
    """Such a route for bodies that are too large to be held in memory."""

    streams_body = True


def api_router(prefix: str, tag: str, route_class: type[ApiRoute] = ApiRoute) -> APIRouter:
    """A router whose routes are guarded, and described with the errors that each may answer."""
    errors: dict[int | str, dict[str, Any]] = {
        401: {"model": ErrorResponse, "description": "No working API token."},
        403: {"model": ErrorResponse, "description": "Not allowed."},
        "4XX": {"model": ErrorResponse, "description": "Refused; the message says why."},
        "5XX": {
            "model": ErrorResponse,
            "description": "Failed; Retry-After says when to try again.",
        },
    }
    return APIRouter(prefix=prefix, tags=[tag], route_class=route_class, responses=errors)


class LimitedRequest(Request):
    """A request whose body is read up to a limit, also when it doesn't say its length."""

    _whole: bytes | None = None

    async def body(self) -> bytes:
        """The whole body.

        Raises:
            ApiError: 413, as soon as it is too long.
        """
        if self._whole is None:
            try:
                self._whole = await read_limited_body(self)
            except BodyTooLargeError as problem:
                raise ApiError(
                    BODY_TOO_LARGE,
                    f"The body of a request has at most {MAX_BODY_BYTES} bytes.",
                    headers={"Connection": "close"},
                ) from problem
        return self._whole


def _resource(request: Request) -> str:
    """Name of the resource that a path is about; of its collection when it names none."""
    values = request.path_params
    if "session" in values:
        return session_name(values["run"], values["session"])
    if "run" in values:
        return run_name(values["run"])
    for parameter, name_of in _RESOURCES.items():
        if parameter in values:
            return name_of(values[parameter])
    # What follows a colon is a method of the collection (AIP-136).
    return str(request.url.path).rpartition("/v1/")[2].partition(":")[0]


def _is_ours(origin: str, request: Request) -> bool:
    """Whether a page is of the host that it asks, and by TLS where that is.

    Anybody on the way can be the same host without TLS.
    """
    has_tls = get_services(request).settings.base_url.startswith("https://")
    is_safe = not has_tls or origin.startswith("https://")
    return is_safe and _netloc(origin) == request.headers.get("host")


def _netloc(url: str) -> str | None:
    try:
        return urlsplit(url).netloc or None
    except ValueError:
        return None


def _hostname(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None
