"""`/admin/audit`: the audit log for people, with a form to search it, and its export."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request, Response

from auth.policy import Action
from server.audit.page import ACTIONS, line_of, read_query
from server.audit.reading import export_response
from server.callers.signed_in import Person
from server.http.aip import PageToken, next_page_token, page_request
from server.registry.audit import list_audit_events
from server.services import ServicesDependency
from server.site.routes import page_response, page_router, person_who

router = page_router()

AUDIT_PATH = "/admin/audit"
_SIZE = 100
_Reader = Annotated[Person, Depends(person_who(Action.AUDIT_READ))]


@router.get(AUDIT_PATH)
def show_audit(
    request: Request, services: ServicesDependency, person: _Reader, page_token: PageToken = ""
) -> Response:
    """The events that the form asks for, newest first."""
    asked = read_query(request.query_params)
    context = ("page of the audit log", asked.text)
    wanted = page_request(size=_SIZE, token=page_token, order_by="", sortable={}, context=context)
    page = None if asked.problem else list_audit_events(services.database, wanted, asked.condition)
    path = f"{services.settings.path_prefix}{AUDIT_PATH}"
    token = next_page_token(page.next, wanted, context) if page else ""
    mark = "&" if asked.text else ""
    return page_response(
        services,
        person,
        "audit.html",
        400 if asked.problem else 200,
        asked=asked,
        choices=[("", "Anything"), *((action, action) for action in ACTIONS)],
        lines=[line_of(event) for event in page.records] if page else [],
        days=services.settings.audit_days,
        path=path,
        export=f"{path}/export?{asked.text}",
        newest=f"{path}?{asked.text}" if page_token else "",
        older=f"{path}?{asked.text}{mark}pageToken={token}" if token else "",
    )


@router.get(f"{AUDIT_PATH}/export")
def export_audit(request: Request, services: ServicesDependency, _person: _Reader) -> Response:
    """The same events as JSON lines, all of them, oldest first."""
    return export_response(services.database, read_query(request.query_params).condition)
