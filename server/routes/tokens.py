"""`/v1/apiTokens`: make, list and revoke API tokens. A token's secret is told once."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import Depends, Query

from auth import identity
from auth.identity import Principal
from auth.policy import Action
from server.access import api_router, require
from server.aip import next_page_token, page_request
from server.lifetimes import expiry, state_at
from server.names import token_name
from server.registry.tokens import SqlTokenStore
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
def create_token(services: ServicesDependency, principal: Manager, body: NewToken) -> CreatedToken:
    """Makes an API token. It works until it is revoked, unless a lifetime is given."""
    now = datetime.now(UTC)
    token, secret = identity.create_token(
        SqlTokenStore(services.database),
        name=body.display_name,
        role=body.role,
        creator=principal.name,
        now=now,
        expires=expiry(body, now, None),
    )
    return created_resource(token, secret, now)


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
def get_token(services: ServicesDependency, _principal: Manager, token: ResourceId) -> ApiToken:
    """Answers one API token by its id (not its secret)."""
    return to_resource(SqlTokenStore(services.database).get_token(token), datetime.now(UTC))


@router.delete("/{token}")
def revoke_token(services: ServicesDependency, _principal: Manager, token: ResourceId) -> ApiToken:
    """Revokes an API token: it opens nothing any more. Doing it twice does no harm."""
    now = datetime.now(UTC)
    return to_resource(SqlTokenStore(services.database).revoke_token(token, now), now)


def to_resource(token: identity.ApiToken, now: datetime) -> ApiToken:
    """An API token as the API shows it at a moment."""
    return ApiToken(
        name=token_name(token.id),
        uid=token.id,
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
