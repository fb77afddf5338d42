"""`shareLinks`: links to a session or a whole run: make, list, read, change, revoke. A token is told once."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import Depends, Query, Request, Response
from pydantic import StringConstraints

from auth import links
from auth.identity import Principal
from auth.policy import Action
from auth.sharing_rules import SharingRules
from server.audit.notes import note_audited
from server.callers.access import api_router, require
from server.http.aip import expected_etag, next_page_token, page_request
from server.http.errors import invalid_field
from server.http.masks import read_mask
from server.http.repeated import RepeatableParameters, make_once, repeatable, told_once
from server.links.lifetimes import state_at
from server.links.making import CHANGEABLE, change_link, make_link
from server.links.schemas import CreatedLink, LinkChange, NewLink, ShareLink, ShareLinkList
from server.links.targets import terms_of
from server.names import link_name, run_name, session_name
from server.registry.errors import RegistryError, run_not_found, session_not_found
from server.registry.links import SqlLinkStore, link_etag
from server.registry.records import Json
from server.registry.rules import get_sharing_rules
from server.registry.runs import get_run
from server.registry.sessions import get_session
from server.routes.runs import DeleteParameters, IfMatch, UpdateParameters
from server.schemas import ListParameters, ResourceId
from server.services import Services, ServicesDependency
from server.xprof.views import stored_view

router = api_router("/v1", "links")

_OF_RUN = "/machineLearningRuns/{run}/shareLinks"
_OF_SESSION = "/machineLearningRuns/{run}/profilerSessions/{session}/shareLinks"

Maker = Annotated[Principal, Depends(require(Action.LINKS_CREATE))]
Reader = Annotated[Principal, Depends(require(Action.LINKS_LIST))]
Changer = Annotated[Principal, Depends(require(Action.LINKS_CREATE))]
Revoker = Annotated[Principal, Depends(require(Action.LINKS_REVOKE))]


class AllLinksParameters(ListParameters):
    """Which page of the list of all links."""

    token_hash: Annotated[str, StringConstraints(pattern="^([0-9a-f]{64})?$")] = ""
    """Only the link whose token has this SHA-256, in hexadecimal digits: so whoever has its address finds it,
    and sends no token."""


@router.post(_OF_SESSION)
def create_link(
    services: ServicesDependency,
    principal: Maker,
    request: Request,
    run: ResourceId,
    session: ResourceId,
    parameters: Annotated[RepeatableParameters, Query()],
    body: NewLink,
) -> CreatedLink:
    """Makes a link that opens this session. What it asks for, and for how long, is limited by the rules."""
    found = get_session(services.database, run, session)
    if body.view.session:
        raise invalid_field("view.session", "A link to one session opens that one.")
    target = links.SessionTarget(run, session, found.uid)
    try:
        return _create(services, principal, request, target, body, parameters.request_id)
    except LookupError as error:
        raise session_not_found(run, session) from error


@router.post(_OF_RUN)
def create_link_to_run(
    services: ServicesDependency,
    principal: Maker,
    request: Request,
    run: ResourceId,
    parameters: Annotated[RepeatableParameters, Query()],
    body: NewLink,
) -> CreatedLink:
    """Makes a link that opens all sessions of this run, later ones too."""
    found = get_run(services.database, run)
    _require_session(services, run, body.view.session)
    target = links.RunTarget(run, found.uid)
    try:
        return _create(services, principal, request, target, body, parameters.request_id)
    except LookupError as error:
        raise run_not_found(run) from error


@router.get(_OF_RUN)
def list_links_to_run(
    services: ServicesDependency,
    _principal: Reader,
    run: ResourceId,
    parameters: Annotated[ListParameters, Query()],
) -> ShareLinkList:
    """Lists the links to a whole run, newest first, ended ones too; not those to one of its sessions."""
    return _page(services, parameters, run_uid=get_run(services.database, run).uid)


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
    return _page(services, parameters, session_uid=uid)


@router.get("/shareLinks")
def list_links(
    services: ServicesDependency,
    _principal: Reader,
    parameters: Annotated[AllLinksParameters, Query()],
) -> ShareLinkList:
    """Lists all links, newest first, ended ones too."""
    return _page(services, parameters, digest=parameters.token_hash or None)


@router.get("/shareLinks/{link}")
def get_link(
    services: ServicesDependency, _principal: Reader, link: ResourceId, response: Response
) -> ShareLink:
    """Answers one link by its id (not its token), with its etag also as a header."""
    shown = _shown(services, SqlLinkStore(services.database).get_link(link))
    response.headers["ETag"] = f'"{shown.etag}"'
    return shown


@router.patch("/shareLinks/{link}")
def update_link(
    services: ServicesDependency,
    _principal: Changer,
    request: Request,
    link: ResourceId,
    parameters: Annotated[UpdateParameters, Query()],
    body: LinkChange,
    if_match: IfMatch = None,
) -> ShareLink:
    """Changes a link: note, end, password, whom it lets in, how often. Counts at the next request."""
    mask = read_mask(
        parameters.update_mask, fields=CHANGEABLE, documents=(), sent=body.model_fields_set
    )
    etag = expected_etag(body.etag, if_match)
    changed = change_link(services, link, body, mask, etag, datetime.now(UTC))
    fields: list[Json] = [*sorted(path[0] for path in mask.paths)]
    terms = terms_of(changed)
    note_audited(request, link_name(link), verb="update", fields=fields, **terms)
    return _shown(services, changed)


@router.delete("/shareLinks/{link}")
def revoke_link(
    services: ServicesDependency,
    _principal: Revoker,
    link: ResourceId,
    parameters: Annotated[DeleteParameters, Query()],
    if_match: IfMatch = None,
) -> ShareLink:
    """Revokes a link: it opens nothing any more. Doing it twice does no harm."""
    now = datetime.now(UTC)
    etag = expected_etag(parameters.etag, if_match)
    return _shown(services, SqlLinkStore(services.database).revoke_link(link, now, etag))


def to_resource(link: links.ShareLink, rules: SharingRules, now: datetime) -> ShareLink:
    """A link as the API shows it at a moment."""
    run, session = _target_names(link.target)
    expires = rules.end_of(link.created, link.expires)
    return ShareLink(
        name=link_name(link.id),
        uid=link.id,
        etag=link_etag(link),
        session=session,
        run=run,
        state=state_at(now, expires, link.revoked),
        create_time=link.created,
        expire_time=expires,
        revoke_time=link.revoked,
        opens=link.opens,
        note=link.note,
        creator=link.creator,
        access=link.access,
        has_password=link.has_password,
        most_opens=link.most_opens,
        redacted=link.is_redacted,
        forbidden=rules.breach_by(link),
        view=stored_view(link.view),
    )


def link_uri(services: Services, request: Request, token: str) -> str:
    """The full address of a link: on the public address if one is set, else on the one that was called."""
    called = f"{request.url.scheme}://{request.url.netloc}"
    base = services.settings.link_url or called
    return f"{base}{services.settings.path_prefix}/s/{token}"


def _create(
    services: Services,
    principal: Principal,
    request: Request,
    target: links.LinkTarget,
    body: NewLink,
    request_id: str | None,
) -> CreatedLink:
    """Makes a link.

    Raises:
        LookupError: the target was deleted in this moment.
        ApiError: the same request made it before; or a field can't be, or is not allowed.
    """
    # What is noted of a request is no place for a password, not even for a hash that is quickly made.
    noted = body.model_copy(update={"password": None})
    repeat = repeatable(principal, request_id, "shareLinks", noted, target.uid)

    def make() -> CreatedLink:
        now = datetime.now(UTC)
        link, token = make_link(services, principal, target, body, now, repeat)
        shown = _shown(services, link)
        note_audited(request, shown.name, verb="create", **terms_of(link))
        uri = link_uri(services, request, token)
        return CreatedLink(**{**dict(shown), "uri": uri, "token": token})

    def refuse(link: str) -> CreatedLink:
        raise told_once("link", link_name(link))

    return make_once(services.database, repeat, make, refuse)


def _shown(services: Services, link: links.ShareLink) -> ShareLink:
    rules = get_sharing_rules(services.database).rules
    return to_resource(link, rules, datetime.now(UTC))


def _require_session(services: Services, run: str, session: str) -> None:
    """Refuses a view of a session that the run does not have."""
    if not session:
        return
    try:
        get_session(services.database, run, session)
    except RegistryError as error:
        raise invalid_field("view.session", error.message) from error


def _target_names(target: links.LinkTarget) -> tuple[str, str]:
    """Resource names of run and session, of which a link has one."""
    if isinstance(target, links.RunTarget):
        return run_name(target.run), ""
    return "", session_name(target.run, target.session)


def _page(
    services: Services,
    parameters: ListParameters,
    *,
    session_uid: str | None = None,
    run_uid: str | None = None,
    digest: str | None = None,
) -> ShareLinkList:
    context = ("links", session_uid or run_uid or digest or "")
    wanted = page_request(
        size=parameters.page_size,
        token=parameters.page_token,
        order_by="",
        sortable={},
        context=context,
    )
    store = SqlLinkStore(services.database)
    page = store.list_links(wanted, session_uid=session_uid, run_uid=run_uid, digest=digest)
    rules, now = get_sharing_rules(services.database).rules, datetime.now(UTC)
    return ShareLinkList(
        share_links=[to_resource(link, rules, now) for link in page.records],
        next_page_token=next_page_token(page.next, wanted, context),
    )
