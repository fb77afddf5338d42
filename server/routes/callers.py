"""`/v1/caller`: who calls, so that a person at a terminal can find out what a token is good for."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends

from auth.identity import Principal
from auth.policy import Action
from server.callers.access import api_router, require
from server.schemas.callers import Caller
from server.services import ServicesDependency

router = api_router("/v1/caller", "caller")


@router.get("")
def get_caller(
    services: ServicesDependency,
    principal: Annotated[Principal, Depends(require(Action.CALLER_READ))],
) -> Caller:
    """Answers who calls, and how much it may do."""
    return Caller(
        name=principal.name,
        id=principal.id,
        role=principal.role,
        auth=services.settings.auth,
    )
