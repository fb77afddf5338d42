"""`shareLinks`: make a link to a session, list, read and revoke links. A link's token is told once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated

from fastapi import Depends, Query, Request

from auth import links
from auth.identity import Principal
from auth.policy import Action
from server.access import api_router, require
from server.aip import next_page_token, page_request
from server.lifetimes import expiry, state_at
from server.names import link_name, session_name
from server.registry.errors import session_not_found
from server.registry.links import SqlLinkStore
from server.registry.sessions import get_session
from server.schemas import (
    CreatedLink,
    ListParameters,
    NewLink,
    ResourceId,
    ShareLink,
    ShareLinkList,
)
from server.services import Services, ServicesDependency

router = api_router("/v1", "links")

_OF_SESSION = "/machineLearningRuns/{run}/profilerSessions/{session}/shareLinks"

Maker = Annotated[Principal, Depends(require(Action.LINKS_CREATE))]
Reader = Annotated[Principal, Depends(require(Action.LINKS_LIST))]
Revoker = Annotated[Principal, Depends(require(Action.LINKS_REVOKE))]


@router.post(_OF_SESSION)
def create_link(
    services: ServicesDependency,
    principal: Maker,
    request: Request,
    run: ResourceId,
    session: ResourceId,
    body: NewLink,
) -> CreatedLink:
    """Makes a link that opens this session for everybody who has it. Lives 30 days unless said otherwise."""
    now = datetime.now(UTC)
    expires = expiry(body, now, timedelta(days=services.settings.link_days))
    target = get_session(services.database, run, session)
    try:
        link, token = links.create_link(
            SqlLinkStore(services.database),
            run=run,
            session=session,
            session_uid=target.uid,
            creator=principal.name,
            now=now,
            expires=expires,
            note=body.note,
        )
    except LookupError as error:
        raise session_not_found(run, session) from error
    shown = to_resource(link, now)
    uri = link_uri(services, request, token)
    return CreatedLink(**shown.model_dump(by_alias=False), uri=uri, token=token)


@router.get(_OF_SESSION)
def list_links_of_session(
    services: ServicesDependency,
    _principal: Reader,
    run: ResourceId,
    session: ResourceId,
    parameters: Annotated[ListParameters, Query()],
) -> ShareLinkList:
    """Lists the links of a session, newest first, ended ones too."""
    uid = get_session(services.database, run, session).uid
    return _page(services, parameters, uid)


@router.get("/shareLinks")
def list_links(
    services: ServicesDependency,
    _principal: Reader,
    parameters: Annotated[ListParameters, Query()],
) -> ShareLinkList:
    """Lists all links, newest first, ended ones too."""
    return _page(services, parameters, None)


@router.get("/shareLinks/{link}")
def get_link(services: ServicesDependency, _principal: Reader, link: ResourceId) -> ShareLink:
    """Answers one link by its id (not its token)."""
    return to_resource(SqlLinkStore(services.database).get_link(link), datetime.now(UTC))


@router.delete("/shareLinks/{link}")
def revoke_link(services: ServicesDependency, _principal: Revoker, link: ResourceId) -> ShareLink:
    """Revokes a link: it opens nothing any more. Doing it twice does no harm."""
    now = datetime.now(UTC)
    return to_resource(SqlLinkStore(services.database).revoke_link(link, now), now)


def to_resource(link: links.ShareLink, now: datetime) -> ShareLink:
    """A link as the API shows it at a moment."""
    return ShareLink(
        name=link_name(link.id),
        uid=link.id,
        session=session_name(link.run, link.session),
        state=state_at(now, link.expires, link.revoked),
        create_time=link.created,
        expire_time=link.expires,
        revoke_time=link.revoked,
        opens=link.opens,
        note=link.note,
        creator=link.creator,
    )


def link_uri(services: Services, request: Request, token: str) -> str:
    """The full address of a link: on the public address if one is set, else on the one that was called."""
    called = f"{request.url.scheme}://{request.url.netloc}"
    base = services.settings.link_url or called
    return f"{base}{services.settings.path_prefix}/s/{token}"


def _page(services: Services, parameters: ListParameters, uid: str | None) -> ShareLinkList:
    context = ("links", uid or "")
    wanted = page_request(
        size=parameters.page_size,
        token=parameters.page_token,
        order_by="",
        sortable={},
        context=context,
    )
    page = SqlLinkStore(services.database).list_links(wanted, uid)
    now = datetime.now(UTC)
    return ShareLinkList(
        share_links=[to_resource(link, now) for link in page.records],
        next_page_token=next_page_token(page.next, wanted, context),
    )
