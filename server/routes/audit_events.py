"""`/v1/auditEvents`: who did what, and when. Events can be read and exported, by nobody changed."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Query
from fastapi.responses import StreamingResponse

from auth.identity import Principal
from auth.policy import Action
from server.audit.reading import JSON_LINES, export_response, to_resource
from server.callers.access import api_router, require
from server.filters import AUDIT_FIELDS, read_filter
from server.http.aip import next_page_token, page_request
from server.registry.audit import get_audit_event, list_audit_events
from server.schemas import ResourceId
from server.schemas.audit import AuditEvent, AuditEventList, AuditListParameters, ExportParameters
from server.services import ServicesDependency

router = api_router("/v1/auditEvents", "audit")

Reader = Annotated[Principal, Depends(require(Action.AUDIT_READ))]
_SORTABLE = {"createTime": "created"}


@router.get("")
def list_events(
    services: ServicesDependency,
    _principal: Reader,
    parameters: Annotated[AuditListParameters, Query()],
) -> AuditEventList:
    """Lists what was done, newest first unless `orderBy` says otherwise."""
    context = ("audit", parameters.filter)
    wanted = page_request(
        size=parameters.page_size,
        token=parameters.page_token,
        order_by=parameters.order_by,
        sortable=_SORTABLE,
        context=context,
    )
    condition = read_filter(parameters.filter, AUDIT_FIELDS)
    page = list_audit_events(services.database, wanted, condition)
    return AuditEventList(
        audit_events=[to_resource(event) for event in page.records],
        next_page_token=next_page_token(page.next, wanted, context),
    )


@router.get(
    ":export",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "One event a line.",
            "content": {JSON_LINES: {"schema": {"type": "string"}}},
        }
    },
)
def export_events(
    services: ServicesDependency,
    _principal: Reader,
    parameters: Annotated[ExportParameters, Query()],
) -> StreamingResponse:
    """Answers all events as JSON lines, oldest first, as they are read.

    To go on where an export ended, filter by `createTime >` the last line's.
    """
    condition = read_filter(parameters.filter, AUDIT_FIELDS)
    return export_response(services.database, condition)


@router.get("/{event}")
def get_event(services: ServicesDependency, _principal: Reader, event: ResourceId) -> AuditEvent:
    """Answers one event."""
    return to_resource(get_audit_event(services.database, event))
