"""`/v1/runGroups`: what holds for groups of runs, and what they store.

A group's id is whatever its runs' `runSet` says, slashes too.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import Depends, Query, Request, Response

from auth.identity import Principal
from auth.policy import Action
from server.audit.notes import note_audited
from server.callers.access import api_router, require
from server.http.aip import expected_etag, next_page_token, page_request
from server.http.errors import invalid_field
from server.http.masks import read_mask
from server.lifecycle.showing import require_may_hold
from server.names import LONGEST_LINE, group_name, has_controls
from server.registry import groups
from server.routes.runs import IfMatch, UpdateParameters
from server.schemas.groups import RunGroup, RunGroupList, RunGroupListParameters
from server.services import ServicesDependency

router = api_router("/v1/runGroups", "runGroups")

Reader = Annotated[Principal, Depends(require(Action.GROUPS_READ))]
Writer = Annotated[Principal, Depends(require(Action.GROUPS_WRITE))]
_FIELDS = frozenset({"session_days", "held", "note"})
_SORTABLE = {"name": "id"}


class UpdateGroupParameters(UpdateParameters):
    """Parameters of a change of a run group."""

    allow_missing: bool = False
    """Whether to make the group when no run is in it yet."""


@router.get("", response_model_exclude_none=True)
def list_run_groups(
    services: ServicesDependency,
    _principal: Reader,
    parameters: Annotated[RunGroupListParameters, Query()],
) -> RunGroupList:
    """Lists run groups by name: those that runs are in, and those of which something was said."""
    context = ("run groups",)
    request = page_request(
        size=parameters.page_size,
        token=parameters.page_token,
        order_by="name",
        sortable=_SORTABLE,
        context=context,
    )
    page = groups.list_groups(services.database, request)
    return RunGroupList(
        run_groups=[group_resource(group) for group in page.records],
        next_page_token=next_page_token(page.next, request, context),
    )


@router.get("/{group:path}", response_model_exclude_none=True)
def get_run_group(
    services: ServicesDependency, _principal: Reader, group: str, response: Response
) -> RunGroup:
    """Answers one run group, with its etag also as a header."""
    found = groups.get_group(services.database, checked_group(group))
    response.headers["ETag"] = f'"{found.etag}"'
    return group_resource(found)


@router.patch("/{group:path}", response_model_exclude_none=True)
def update_run_group(
    services: ServicesDependency,
    principal: Writer,
    request: Request,
    group: str,
    parameters: Annotated[UpdateGroupParameters, Query()],
    body: RunGroup,
    if_match: IfMatch = None,
) -> RunGroup:
    """Changes the fields of the mask. 409 when the group is not as the etag says; then nothing changes."""
    group = checked_group(group)
    if body.name and body.name != group_name(group):
        raise invalid_field("name", "This is the name of another group than the one in the path.")
    mask = read_mask(
        parameters.update_mask, fields=_FIELDS, documents=(), sent=body.model_fields_set
    )

    def decide(old: groups.RunGroup) -> groups.GroupChanges:
        held = bool(body.held) if mask.covers("held") else None
        require_may_hold(principal, group_name(group), old.is_held, held)
        has_days = mask.covers("session_days")
        return groups.GroupChanges(
            session_days=body.session_days if has_days else None,
            is_held=held,
            note=body.note if mask.covers("note") else None,
            clears_days=has_days and body.session_days is None,
        )

    changed = groups.change_group(
        services.database,
        group,
        decide,
        etag=expected_etag(body.etag, if_match),
        by=principal.name,
        now=datetime.now(UTC),
        may_make=parameters.allow_missing,
    )
    note_audited(request, group_name(group), sessionDays=changed.session_days, held=changed.is_held)
    return group_resource(changed)


def group_resource(group: groups.RunGroup) -> RunGroup:
    """A group as the API shows it."""
    return RunGroup(
        name=group_name(group.id),
        etag=group.etag,
        session_days=group.session_days,
        held=group.is_held or None,
        note=group.note,
        update_time=group.updated,
        updater=group.updater,
        run_count=group.usage.runs,
        session_count=group.usage.sessions,
        total_bytes=group.usage.total_bytes,
    )


def checked_group(text: str) -> str:
    """The text, if a run's `runSet` may say it.

    Raises:
        ApiError: it can't be a group's id.
    """
    if not text or len(text) > LONGEST_LINE or has_controls(text):
        message = f"A group's name has 1 to {LONGEST_LINE} characters, and no control characters."
        raise invalid_field("group", message)
    return text
