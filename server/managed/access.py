"""The routes of the managed API: guarded like those of `/v1`, with errors in Google's shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from pydantic import ConfigDict
from pydantic.alias_generators import to_camel

from auth.identity import Principal
from auth.policy import Action, may
from server.audit.notes import note_actor
from server.callers.access import ApiRoute, Handler
from server.http.error_table import FORBIDDEN
from server.http.errors import ApiError, as_api_error
from server.managed.errors import error_answer
from server.managed.names import Place
from server.names import run_name
from server.schemas import ApiModel, ResourceId

PREFIX = "/v1alpha/projects/{project}/locations/{location}"
_COLLECTION = "machineLearningRuns"


class ManagedRoute(ApiRoute):
    """A guarded route whose refusals are `google.rpc.Status`."""

    def get_route_handler(self) -> Handler:
        """The handler, with refusals answered."""
        inner = super().get_route_handler()

        async def handle(request: Request) -> Response:
            try:
                return await inner(request)
            except Exception as problem:
                refusal = as_api_error(problem)
                if refusal is None:
                    raise
                return error_answer(refusal)

        return handle


class Parameters(ApiModel):
    """Parameters in either spelling; Google's clients add some of their own, such as `$alt`."""

    model_config = ConfigDict(
        alias_generator=to_camel, validate_by_name=True, validate_by_alias=True, extra="ignore"
    )


def managed_router(path: str) -> APIRouter:
    """A router below a location. Its shapes are Google's, so the API's own document does not hold them."""
    return APIRouter(prefix=f"{PREFIX}{path}", route_class=ManagedRoute, include_in_schema=False)


def place_of(project: ResourceId, location: ResourceId) -> Place:
    """The location that a path names."""
    return Place(project, location)


PlaceDependency = Annotated[Place, Depends(place_of)]


def allow(*actions: Action) -> Callable[[Request], Principal]:
    """A dependency that gives the caller, if it may do one of these to the run that the path names."""

    def check(request: Request) -> Principal:
        principal = getattr(request.state, "principal", None)
        known = principal if isinstance(principal, Principal) else None
        run = request.path_params.get("run")
        resource = run_name(run) if run else _COLLECTION
        allowed = next((action for action in actions if may(known, action, resource)), None)
        if known is None or allowed is None:
            wanted = " or ".join(action.value for action in actions)
            raise ApiError(FORBIDDEN, f"This needs the permission {wanted}.")
        note_actor(request, known, allowed.value)
        return known

    return check


RunReader = Annotated[Principal, Depends(allow(Action.RUNS_READ, Action.RUNS_REGISTER))]
"""Who reads a run by its name: a job reads its own before it changes it."""
RunLister = Annotated[Principal, Depends(allow(Action.RUNS_READ))]
RunRegistrar = Annotated[Principal, Depends(allow(Action.RUNS_REGISTER))]
RunWriter = Annotated[Principal, Depends(allow(Action.RUNS_WRITE))]
SessionReader = Annotated[Principal, Depends(allow(Action.SESSIONS_READ))]
SessionRegistrar = Annotated[Principal, Depends(allow(Action.SESSIONS_REGISTER))]
SessionWriter = Annotated[Principal, Depends(allow(Action.SESSIONS_WRITE))]
