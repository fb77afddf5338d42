"""`/v1/apiTokens`: make, list and revoke API tokens. A token's secret is told once."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import Depends, Query, Request, Response

from auth import identity
from auth.identity import Principal
from auth.policy import Action
from server.audit.notes import note_audited
from server.callers.access import api_router, require
from server.http.aip import expected_etag, next_page_token, page_request
from server.http.repeated import RepeatableParameters, make_once, repeatable, told_once
from server.links.lifetimes import expiry, state_at
from server.names import token_name
from server.registry.records import revocable_etag
from server.registry.tokens import SqlTokenStore
from server.routes.runs import DeleteParameters, IfMatch
from server.schemas import (
    ApiToken,
    ApiTokenList,
    CreatedToken,
    ListParameters,
    NewToken,
    ResourceId,
)
from server.services import ServicesDependency

router = api_router("/v1/apiTokens", "tokens")

Manager = Annotated[Principal, Depends(require(Action.TOKENS_MANAGE))]
_CONTEXT = ("tokens",)


@router.post("")
def create_token(
    request: Request,
    services: ServicesDependency,
    principal: Manager,
    parameters: Annotated[RepeatableParameters, Query()],
    body: NewToken,
) -> CreatedToken:
    """Makes an API token. It works until it is revoked, unless a lifetime is given."""
    repeat = repeatable(principal, parameters.request_id, "apiTokens", body)

    def make() -> CreatedToken:
        now = datetime.now(UTC)
        token, secret = identity.create_token(
            SqlTokenStore(services.database, repeat),
            name=body.display_name,
            role=body.role,
            creator=principal.name,
            now=now,
            expires=expiry(body, now, None),
        )
        return created_resource(token, secret, now)

    def refuse(token: str) -> CreatedToken:
        raise told_once("token", token_name(token))

    made = make_once(services.database, repeat, make, refuse)
    note_audited(request, made.name, displayName=made.display_name, role=made.role.value)
    return made


@router.get("")
def list_tokens(
    services: ServicesDependency,
    _principal: Manager,
    parameters: Annotated[ListParameters, Query()],
) -> ApiTokenList:
    """Lists API tokens, newest first, ended ones too."""
    wanted = page_request(
        size=parameters.page_size,
        token=parameters.page_token,
        order_by="",
        sortable={},
        context=_CONTEXT,
    )
    page = SqlTokenStore(services.database).list_tokens(wanted)
    now = datetime.now(UTC)
    return ApiTokenList(
        api_tokens=[to_resource(token, now) for token in page.records],
        next_page_token=next_page_token(page.next, wanted, _CONTEXT),
    )


@router.get("/{token}")
def get_token(
    services: ServicesDependency, _principal: Manager, token: ResourceId, response: Response
) -> ApiToken:
    """Answers one API token by its id (not its secret), with its etag also as a header."""
    shown = to_resource(SqlTokenStore(services.database).get_token(token), datetime.now(UTC))
    response.headers["ETag"] = f'"{shown.etag}"'
    return shown


@router.delete("/{token}")
def revoke_token(
    request: Request,
    services: ServicesDependency,
    _principal: Manager,
    token: ResourceId,
    parameters: Annotated[DeleteParameters, Query()],
    if_match: IfMatch = None,
) -> ApiToken:
    """Revokes an API token: it opens nothing any more. Doing it twice does no harm."""
    now = datetime.now(UTC)
    etag = expected_etag(parameters.etag, if_match)
    revoked = SqlTokenStore(services.database).revoke_token(token, now, etag)
    note_audited(request, token_name(token), verb="revoke", displayName=revoked.name)
    return to_resource(revoked, now)


def to_resource(token: identity.ApiToken, now: datetime) -> ApiToken:
    """An API token as the API shows it at a moment."""
    return ApiToken(
        name=token_name(token.id),
        uid=token.id,
        etag=revocable_etag(token.id, token.revoked),
        display_name=token.name,
        role=token.role,
        state=state_at(now, token.expires, token.revoked),
        create_time=token.created,
        expire_time=token.expires,
        revoke_time=token.revoked,
        creator=token.creator,
    )


def created_resource(token: identity.ApiToken, secret: str, now: datetime) -> CreatedToken:
    """A new API token together with its secret."""
    return CreatedToken(**to_resource(token, now).model_dump(by_alias=False), token=secret)
