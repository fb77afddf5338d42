"""The pages on which a session or a run is shared, and a link is changed.

An address is shown once, when the link is made.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from anyio import to_thread
from fastapi import Depends, Request, Response
from starlette.concurrency import run_in_threadpool

from auth.links import RunTarget
from auth.policy import Action
from server.audit.notes import note_audited
from server.callers.signed_in import NothingThereError, Person
from server.http.errors import ApiError
from server.http.redirects import lead_to
from server.links.making import change_link, make_link
from server.links.targets import terms_of
from server.names import is_id, link_name
from server.registry.link_lists import LinkSearch, ListedLink, get_listed_link, search_links
from server.registry.pages import PageRequest
from server.registry.rules import get_sharing_rules
from server.routes.links import link_uri
from server.routes.links_pages import LINKS_PATH
from server.services import Services, ServicesDependency
from server.share_pages.forms import (
    LinkForm,
    change_of,
    form_of,
    new_form,
    new_link_of,
    read_link_form,
)
from server.share_pages.lines import line_of
from server.share_pages.offers import make_offer
from server.share_pages.targets import ShareTarget, find_target
from server.site.forms import read_form
from server.site.routes import page_response, page_router, person_who
from server.ui.qr import qr_code
from server.xprof.views import in_words

router = page_router()

RUN_SHARE = "/runs/{run}/share"
SESSION_SHARE = "/runs/{run}/sessions/{session}/share"
LINK_PATH = LINKS_PATH + "/{link}"
_MOST_SHOWN = 50
_Maker = Annotated[Person, Depends(person_who(Action.LINKS_CREATE))]


@router.get(SESSION_SHARE)
@router.get(RUN_SHARE)
def show_form(
    request: Request,
    services: ServicesDependency,
    person: _Maker,
    run: str,
    session: str | None = None,
) -> Response:
    """The form for a new link, and the links that there are."""
    target = find_target(services, run, session)
    rules = get_sharing_rules(services.database).rules
    offer = make_offer(rules, services.settings.link_days)
    form = new_form(offer, request.url.query)
    return _form_page(request, services, person, target, form)


@router.post(SESSION_SHARE)
@router.post(RUN_SHARE)
async def share(
    request: Request,
    services: ServicesDependency,
    person: _Maker,
    run: str,
    session: str | None = None,
) -> Response:
    """Makes a link, and shows its address."""
    form = read_link_form(await read_form(request))
    target = await run_in_threadpool(find_target, services, run, session)
    limiter = services.threads.passwords if form.password else None
    return await to_thread.run_sync(
        _share, request, services, person, target, form, limiter=limiter
    )


@router.get(LINK_PATH)
def show_link(
    request: Request, services: ServicesDependency, person: _Maker, link: str
) -> Response:
    """A link, and the form that changes it."""
    listed = _find_link(services, link)
    return _link_page(request, services, person, listed, form_of(listed.link))


@router.post(LINK_PATH)
async def change(
    request: Request, services: ServicesDependency, person: _Maker, link: str
) -> Response:
    """Changes a link."""
    form = read_link_form(await read_form(request))
    listed = await run_in_threadpool(_find_link, services, link)
    limiter = services.threads.passwords if form.password else None
    return await to_thread.run_sync(
        _change, request, services, person, listed, form, limiter=limiter
    )


def _share(
    request: Request, services: Services, person: Person, target: ShareTarget, form: LinkForm
) -> Response:
    wanted, now = new_link_of(form), datetime.now(UTC)
    if isinstance(wanted, LinkForm):
        return _form_page(request, services, person, target, wanted)
    try:
        link, token = make_link(services, person.principal, target.link_target, wanted, now)
    except ApiError as error:
        return _form_page(request, services, person, target, form.refused(error))
    except LookupError as error:
        raise NothingThereError from error
    note_audited(request, link_name(link.id), verb="create", **terms_of(link))
    address = link_uri(services, request, token)
    return page_response(
        services,
        person,
        "share_made.html",
        target=target,
        line=line_of(ListedLink(link, None), get_sharing_rules(services.database).rules, now),
        address=address,
        code=qr_code(address),
    )


def _change(
    request: Request, services: Services, person: Person, listed: ListedLink, form: LinkForm
) -> Response:
    wanted = change_of(form)
    if isinstance(wanted, LinkForm):
        return _link_page(request, services, person, listed, wanted)
    try:
        changed = change_link(services, listed.link.id, *wanted, None, datetime.now(UTC))
    except ApiError as error:
        return _link_page(request, services, person, listed, form.refused(error))
    note_audited(request, link_name(changed.id), verb="update", **terms_of(changed))
    place = f"{services.settings.path_prefix}{LINKS_PATH}/{changed.id}?changed=1"
    return lead_to(place, 303)


def _form_page(
    request: Request, services: Services, person: Person, target: ShareTarget, form: LinkForm
) -> Response:
    rules, now = get_sharing_rules(services.database).rules, datetime.now(UTC)
    link_target = target.link_target
    is_run = isinstance(link_target, RunTarget)
    search = LinkSearch(
        now=now,
        run_uid=link_target.uid if is_run else "",
        session_uid="" if is_run else link_target.uid,
    )
    page = search_links(services.database, search, PageRequest(_MOST_SHOWN))
    return page_response(
        services,
        person,
        "share.html",
        400 if form.problems else 200,
        target=target,
        form=form,
        view=in_words(form.view),
        offer=make_offer(rules, services.settings.link_days),
        lines=[line_of(listed, rules, now) for listed in page.records],
        revoked=request.query_params.get("revoked", ""),
    )


def _link_page(
    request: Request, services: Services, person: Person, listed: ListedLink, form: LinkForm
) -> Response:
    rules, now = get_sharing_rules(services.database).rules, datetime.now(UTC)
    return page_response(
        services,
        person,
        "link.html",
        400 if form.problems else 200,
        line=line_of(listed, rules, now),
        form=form,
        offer=make_offer(rules, services.settings.link_days),
        is_changed="changed" in request.query_params,
    )


def _find_link(services: Services, link: str) -> ListedLink:
    found = get_listed_link(services.database, link) if is_id(link) else None
    if found is None:
        raise NothingThereError
    return found
