"""`/links`: the links that one may manage, found and revoked; `server.routes.share_pages` makes them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import Depends, Request, Response
from starlette.concurrency import run_in_threadpool

from auth.policy import Action
from server.audit.notes import note_audited
from server.callers.signed_in import NothingThereError, Person
from server.http.aip import PageToken, next_page_token, page_request
from server.http.local_paths import local_path
from server.http.redirects import lead_to
from server.links.targets import target_name
from server.names import is_id, link_name
from server.registry.errors import RegistryError, RegistryProblem
from server.registry.link_lists import get_listed_link, search_links
from server.registry.links import SqlLinkStore
from server.registry.rules import get_sharing_rules
from server.services import Services, ServicesDependency
from server.share_pages.lines import line_of
from server.share_pages.searching import STATES, WHOSE, read_query
from server.site.forms import read_form
from server.site.routes import page_response, page_router, person_who

router = page_router()

LINKS_PATH = "/links"
_SIZE = 50
_Lister = Annotated[Person, Depends(person_who(Action.LINKS_LIST))]
_Revoker = Annotated[Person, Depends(person_who(Action.LINKS_REVOKE))]


@router.get(LINKS_PATH)
def show_links(
    request: Request, services: ServicesDependency, person: _Lister, page_token: PageToken = ""
) -> Response:
    """The links, newest first."""
    asked, now = read_query(request.query_params), datetime.now(UTC)
    rules = get_sharing_rules(services.database).rules
    context = ("page of links", asked.address)
    wanted = page_request(size=_SIZE, token=page_token, order_by="", sortable={}, context=context)
    search = asked.search(person.principal.name, rules, now)
    page = search_links(services.database, search, wanted)
    path = f"{services.settings.path_prefix}{LINKS_PATH}"
    token = next_page_token(page.next, wanted, context)
    mark = "&" if asked.address else ""
    here = f"{path}?{asked.address}"
    return page_response(
        services,
        person,
        "links.html",
        asked=asked,
        whose=WHOSE,
        states=STATES,
        lines=[line_of(listed, rules, now) for listed in page.records],
        path=path,
        back=here,
        newest=here if page_token else "",
        older=f"{here}{mark}pageToken={token}" if token else "",
        revoked=request.query_params.get("revoked", ""),
    )


@router.post(LINKS_PATH + "/{link}/revoke")
async def revoke_link(
    request: Request, services: ServicesDependency, _person: _Revoker, link: str
) -> Response:
    """Ends a link for good, and leads back to where it was listed."""
    fields = await read_form(request)
    await run_in_threadpool(_revoke, request, services, link)
    path = f"{services.settings.path_prefix}{LINKS_PATH}"
    back = local_path(fields.get("back", ""), services.settings.path_prefix, path)
    mark = "&" if "?" in back else "?"
    place = f"{back}{mark}revoked={link}"
    return lead_to(place, 303)


def _revoke(request: Request, services: Services, link: str) -> None:
    found = get_listed_link(services.database, link) if is_id(link) else None
    if found is None:
        raise NothingThereError
    try:
        SqlLinkStore(services.database).revoke_link(link, datetime.now(UTC))
    except RegistryError as error:
        if error.problem is not RegistryProblem.NOT_FOUND:
            raise
        raise NothingThereError from error
    note_audited(request, link_name(link), target=target_name(found.link.target))
