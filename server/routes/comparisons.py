"""`/v1/comparisons`: two sessions side by side, from figures that the hub has, or makes now."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import Depends, Query, Response

from auth.identity import Principal
from auth.policy import Action, may
from server.callers.access import api_router, require
from server.comparing.resources import comparison_resource
from server.comparing.sides import SessionRef, Side, compare_sides, find_side, read_ref
from server.http.error_table import FORBIDDEN, NOT_FOUND
from server.http.errors import ApiError, invalid_field
from server.names import session_name
from server.schemas.comparisons import Comparison, ComparisonParameters, ComparisonState
from server.services import Services, ServicesDependency
from server.site.public_address import PageBase

router = api_router("/v1/comparisons", "comparisons")

_AGAIN_SECONDS = "1"


@router.get(
    "",
    response_model_exclude_none=True,
    responses={
        202: {
            "model": Comparison,
            "description": "Figures are being made (`state` is `PENDING`); ask again.",
            "headers": {
                "Retry-After": {"description": "Seconds.", "schema": {"type": "integer"}},
            },
        }
    },
)
async def get_comparison(
    services: ServicesDependency,
    principal: Annotated[Principal, Depends(require(Action.SESSIONS_READ))],
    parameters: Annotated[ComparisonParameters, Query()],
    base: PageBase,
    response: Response,
) -> Comparison:
    """Compares two sessions of any runs: step times, operations, utilisation, memory, and configuration.

    The first comparison of a session makes its figures, which takes as long as opening it in XProf: until
    then the answer is 202 with `state` `PENDING`.
    """
    left, right = await asyncio.gather(
        _side(services, principal, "left", parameters.left),
        _side(services, principal, "right", parameters.right),
    )
    found = comparison_resource(compare_sides(left, right), base, parameters.op_limit)
    if found.state is ComparisonState.PENDING:
        response.status_code = 202
        response.headers["Retry-After"] = _AGAIN_SECONDS
    return found


async def _side(services: Services, principal: Principal, where: str, text: str) -> Side:
    ref = read_ref(text)
    if ref is None:
        raise invalid_field(
            where, "Send machineLearningRuns/{run}/profilerSessions/{session}, or RUN/SESSION."
        )
    if not may(principal, Action.SESSIONS_READ, session_name(ref.run, ref.session)):
        raise ApiError(FORBIDDEN, f"This needs the permission {Action.SESSIONS_READ.value}.")
    side = await find_side(services, ref)
    if side is None:
        raise _not_found(where, ref)
    return side


def _not_found(where: str, ref: SessionRef) -> ApiError:
    sentence = f"There is no session {ref.session!r} in a run {ref.run!r}."
    return ApiError(NOT_FOUND, f"{where}: {sentence}", [{"field": where, "description": sentence}])
