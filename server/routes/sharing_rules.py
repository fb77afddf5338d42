"""`/v1/sharingRules`: what share links may be here. One resource, which every hub has."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated

from fastapi import Depends, Query, Request, Response

from auth import sharing_rules
from auth.identity import Principal
from auth.policy import Action
from server.audit.notes import note_audited
from server.callers.access import api_router, require
from server.http.aip import expected_etag
from server.http.masks import read_mask
from server.links.schemas import SharingRules, SharingRulesChange, SharingRulesFields
from server.registry.records import Json
from server.registry.rules import StoredRules, change_sharing_rules, get_sharing_rules
from server.routes.runs import IfMatch, UpdateParameters
from server.services import ServicesDependency

router = api_router("/v1/sharingRules", "links")

NAME = "sharingRules"
FIELDS = frozenset(SharingRulesFields.model_fields)
"""Fields that can be changed, in snake_case."""

Reader = Annotated[Principal, Depends(require(Action.RULES_READ))]
Manager = Annotated[Principal, Depends(require(Action.RULES_MANAGE))]


@router.get("")
def get_rules(services: ServicesDependency, _principal: Reader, response: Response) -> SharingRules:
    """Answers the rules, with their etag also as a header."""
    shown = to_resource(get_sharing_rules(services.database))
    response.headers["ETag"] = f'"{shown.etag}"'
    return shown


@router.patch("")
def update_rules(
    services: ServicesDependency,
    principal: Manager,
    request: Request,
    parameters: Annotated[UpdateParameters, Query()],
    body: SharingRulesChange,
    if_match: IfMatch = None,
) -> SharingRules:
    """Changes the rules. They count from the next request on, for links that exist too."""
    mask = read_mask(
        parameters.update_mask, fields=FIELDS, documents=(), sent=body.model_fields_set
    )
    sent = body.model_dump(include={path[0] for path in mask.paths}, by_alias=False)

    def decide(old: sharing_rules.SharingRules) -> sharing_rules.SharingRules:
        return replace(old, **sent)

    changed = change_sharing_rules(
        services.database,
        decide,
        updater=principal.name,
        etag=expected_etag(body.etag, if_match),
        now=datetime.now(UTC),
    )
    details: dict[str, Json] = body.model_dump(mode="json", include=set(sent))
    note_audited(request, NAME, changed=details)
    return to_resource(changed)


def to_resource(stored: StoredRules) -> SharingRules:
    """The rules as the API shows them."""
    rules = stored.rules
    return SharingRules(
        etag=stored.etag,
        updater=stored.updater,
        update_time=stored.updated,
        allow_unlisted=rules.allow_unlisted,
        longest_days=rules.longest_days,
        unlisted_needs_password=rules.unlisted_needs_password,
        unlisted_redacted_only=rules.unlisted_redacted_only,
        default_access=rules.default_access,
        default_days=rules.default_days,
    )
