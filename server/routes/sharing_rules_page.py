"""`/admin/sharing`: what an administrator allows share links to be."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Annotated

from fastapi import Depends, Request, Response
from starlette.concurrency import run_in_threadpool

from auth.policy import Action
from server.audit.notes import note_audited
from server.callers.signed_in import Person
from server.http.redirects import lead_to
from server.names import to_camel
from server.registry.errors import RegistryError, RegistryProblem
from server.registry.rules import StoredRules, change_sharing_rules, get_sharing_rules
from server.routes.sharing_rules import NAME
from server.services import Services, ServicesDependency
from server.share_pages.rules_form import RulesForm, form_of, read_rules_form, rules_of
from server.site.forms import read_form
from server.site.routes import page_response, page_router, person_who

router = page_router()

SHARING_PATH = "/admin/sharing"
_Manager = Annotated[Person, Depends(person_who(Action.RULES_MANAGE))]
_CHANGED_MEANWHILE = (
    "Somebody else has changed the rules since this page was opened. Here they are."
)


@router.get(SHARING_PATH)
def show_rules(request: Request, services: ServicesDependency, person: _Manager) -> Response:
    """The form, as the rules are."""
    stored = get_sharing_rules(services.database)
    form = form_of(stored.rules, stored.etag)
    return _page(services, person, stored, form, is_saved="saved" in request.query_params)


@router.post(SHARING_PATH)
async def change_rules(
    request: Request, services: ServicesDependency, person: _Manager
) -> Response:
    """Changes the rules; they count at once, for links that exist too."""
    form = read_rules_form(await read_form(request))
    return await run_in_threadpool(_change, request, services, person, form)


def _change(request: Request, services: Services, person: Person, form: RulesForm) -> Response:
    wanted = rules_of(form)
    if isinstance(wanted, RulesForm):
        return _page(services, person, get_sharing_rules(services.database), wanted)
    try:
        changed = change_sharing_rules(
            services.database,
            lambda _old: wanted,
            updater=person.principal.name,
            etag=form.etag or None,
            now=datetime.now(UTC),
        )
    except RegistryError as error:
        if error.problem is not RegistryProblem.ETAG_MISMATCH:
            raise
        stored = get_sharing_rules(services.database)
        shown = replace(form_of(stored.rules, stored.etag), problems={"other": _CHANGED_MEANWHILE})
        return _page(services, person, stored, shown)
    rules = {to_camel(name): value for name, value in asdict(changed.rules).items()}
    note_audited(request, NAME, verb="update", changed=rules)
    place = f"{services.settings.path_prefix}{SHARING_PATH}?saved=1"
    return lead_to(place, 303)


def _page(
    services: Services,
    person: Person,
    stored: StoredRules,
    form: RulesForm,
    *,
    is_saved: bool = False,
) -> Response:
    return page_response(
        services,
        person,
        "sharing_rules.html",
        400 if form.problems else 200,
        form=form,
        stored=stored,
        link_days=services.settings.link_days,
        is_saved=is_saved,
        path=f"{services.settings.path_prefix}{SHARING_PATH}",
    )
