"""`/v1/deviceCodes`: a program asks to be let in, and comes back for its token. Needs no token of its own.

What its person sees and decides is `server.routes.device_page`. Neither code is ever part of an address that
is logged: the long one goes in bodies, and queries are not logged.
"""

from __future__ import annotations

from datetime import UTC, datetime
from urllib.parse import quote

from fastapi import APIRouter, Request, Response
from fastapi.routing import APIRoute

from auth.device_codes import (
    INTERVAL,
    LIFETIME,
    TOKEN_LIFETIME,
    DeviceRequest,
    DeviceState,
    new_device_code,
    new_user_code,
)
from auth.identity import ParentEndedError, create_token
from auth.policy import Action
from auth.tokens import hash_token
from server.audit.requests import record
from server.callers.access import Handler, LimitedRequest
from server.http.error_table import PRECONDITION, TOO_MANY, UNAVAILABLE
from server.http.errors import ApiError
from server.limits.middleware import too_many_words
from server.limits.service import DEVICE_CODES, by_address
from server.names import token_name
from server.registry.device_codes import (
    TooManyWaitingError,
    add_device_request,
    take_device_request,
)
from server.registry.tokens import SqlTokenStore
from server.routes.tokens import created_resource
from server.schemas import CreatedToken
from server.schemas.device_codes import DeviceCode, DeviceExchange, NewDeviceCode
from server.services import Services, ServicesDependency
from server.site.public_address import PageBase

DEVICE_PATH = "/device"


class _OpenRoute(APIRoute):
    """A route for callers whom nobody knows, which reads no more than it should."""

    def get_route_handler(self) -> Handler:
        inner = super().get_route_handler()

        async def handle(request: Request) -> Response:
            limited = LimitedRequest(request.scope, request.receive)
            await limited.body()
            response = await inner(limited)
            response.headers["Cache-Control"] = "no-store"
            return response

        return handle


# Not in the OpenAPI document: it is a protocol of its own, which docs/api.md describes.
router = APIRouter(prefix="/v1", route_class=_OpenRoute, include_in_schema=False)


@router.post("/deviceCodes")
def begin(
    request: Request, services: ServicesDependency, body: NewDeviceCode, base: PageBase
) -> DeviceCode:
    """Makes the two codes."""
    if services.settings.auth == "dev":
        raise _refusal("not_needed", "This hub asks for no token.")
    _limit(request, services)
    now, secret = datetime.now(UTC), new_device_code()
    asked = DeviceRequest(new_user_code(), body.display_name, now + LIFETIME)
    try:
        add_device_request(services.database, asked, hash_token(secret), now)
    except TooManyWaitingError as problem:
        message = "Too many programs are waiting to be let in. Try again later."
        raise ApiError(UNAVAILABLE, message) from problem
    place = f"{base}{DEVICE_PATH}"
    return DeviceCode(
        device_code=secret,
        user_code=asked.user_code,
        verification_uri=place,
        verification_uri_complete=f"{place}?code={quote(asked.user_code)}",
        expire_time=asked.expires,
        interval_seconds=int(INTERVAL.total_seconds()),
    )


@router.post("/deviceCodes:exchange")
def exchange(request: Request, services: ServicesDependency, body: DeviceExchange) -> CreatedToken:
    """Answers an API token, once, if the program's person has allowed it."""
    now = datetime.now(UTC)
    asked = take_device_request(services.database, hash_token(body.device_code), now)
    if asked is None:
        raise _refusal("expired_token", "This code is over, or was used. Begin anew.")
    if asked.state is DeviceState.WAITING:
        raise _refusal("authorization_pending", "Nobody has allowed this yet.")
    if asked.state is DeviceState.REFUSED:
        raise _refusal("access_denied", "It was refused.")
    return _token_for(request, services, asked, now)


def _limit(request: Request, services: Services) -> None:
    """Refuses a network from which very many programs ask to be let in.

    Raises:
        ApiError: 429.
    """
    seconds = services.limits.attempts.take(by_address(DEVICE_CODES, request))
    if seconds:
        services.limits.refused(DEVICE_CODES.name)
        words = too_many_words("Too many programs of your network ask to be let in.", seconds)
        raise ApiError(TOO_MANY, words, headers={"Retry-After": str(seconds)})


def _token_for(
    request: Request, services: Services, asked: DeviceRequest, now: datetime
) -> CreatedToken:
    """A token that may no more, and works no longer, than the one that its person allowed it with."""
    store = SqlTokenStore(services.database)
    behind = store.find_token_by_id(asked.token_id)
    if behind is None or not behind.works_at(now):
        raise _ended()
    try:
        token, secret = create_token(
            store,
            name=f"{behind.name} at {asked.client}",
            role=behind.role,
            creator=behind.name,
            now=now,
            expires=min(now + TOKEN_LIFETIME, behind.expires or now + TOKEN_LIFETIME),
            parent=behind.id,
        )
    except ParentEndedError as problem:  # in this moment
        raise _ended() from problem
    # As if the token had been asked for with the one behind it.
    action, name = Action.TOKENS_MANAGE.value, token_name(token.id)
    told = {"displayName": token.name, "role": token.role.value}
    record(request, services, behind.principal, action, "create", name, **told)
    return created_resource(token, secret, now)


def _ended() -> ApiError:
    return _refusal("access_denied", "The token that this was allowed with works no more.")


def _refusal(reason: str, message: str) -> ApiError:
    return ApiError(PRECONDITION, message, [{"reason": reason}])
