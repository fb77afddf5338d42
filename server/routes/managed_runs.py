"""`/v1alpha/projects/…/machineLearningRuns`: runs as Google's managed API has them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import Query, Request

from server.audit.notes import note_audited
from server.http.aip import SORTABLE, next_page_token, page_request
from server.http.error_table import PRECONDITION
from server.http.errors import ApiError, invalid_field
from server.managed import run_values
from server.managed.access import (
    Parameters,
    PlaceDependency,
    RunLister,
    RunReader,
    RunRegistrar,
    RunWriter,
    managed_router,
)
from server.managed.lookups import find_run
from server.managed.names import managed_run_name, place_name
from server.managed.operations import finish, operation_message
from server.managed.registration import create_run, update_run
from server.managed.run_filters import runs_condition
from server.managed.shapes import RUN, read_message
from server.names import run_name
from server.registry import runs
from server.registry.deleting import delete_run
from server.registry.errors import RegistryError, RegistryProblem
from server.registry.records import Json
from server.schemas import JsonObject, ResourceId
from server.services import ServicesDependency

router = managed_router("/machineLearningRuns")


class CreateParameters(Parameters):
    """Parameters of a creation."""

    machine_learning_run_id: str = ""


class UpdateParameters(Parameters):
    """Parameters of an update."""

    update_mask: str = ""


class ListParameters(Parameters):
    """Which page of which runs."""

    page_size: int = 0
    page_token: str = ""
    filter: str = ""
    order_by: str = ""


class DeleteParameters(Parameters):
    """Parameters of a deletion."""

    force: bool = False


@router.post("", response_model=None)
def create(
    request: Request,
    services: ServicesDependency,
    principal: RunRegistrar,
    place: PlaceDependency,
    parameters: Annotated[CreateParameters, Query()],
    body: JsonObject,
) -> dict[str, Json]:
    """Makes a run; 409 with its name when it is there, where a job's start is noted as an attempt."""
    if not place.is_exact:
        raise invalid_field("parent", "Name one project and one location.")
    fields = read_message(body, RUN)
    run = create_run(
        services, place, parameters.machine_learning_run_id, fields, creator=principal.name
    )
    note_audited(request, run_name(run.id))
    name = managed_run_name(run.parent, run.id)
    done = finish(services.database, place.name, "create", name)
    return operation_message(done, run_values.run_message(run))


@router.get("", response_model=None)
def list_runs(
    services: ServicesDependency,
    _principal: RunLister,
    place: PlaceDependency,
    parameters: Annotated[ListParameters, Query()],
) -> dict[str, Json]:
    """Lists the runs of a location, newest first unless `orderBy` says otherwise."""
    context = ("managed runs", place.name, parameters.filter)
    request = page_request(
        size=parameters.page_size,
        token=parameters.page_token,
        order_by=parameters.order_by,
        sortable=SORTABLE,
        context=context,
    )
    page = runs.list_runs(services.database, request, runs_condition(place, parameters.filter))
    return {
        "machineLearningRuns": [run_values.run_message(run) for run in page.records],
        "nextPageToken": next_page_token(page.next, request, context),
    }


@router.get("/{run}", response_model=None)
def get(
    services: ServicesDependency, _principal: RunReader, place: PlaceDependency, run: ResourceId
) -> dict[str, Json]:
    """Answers one run."""
    return run_values.run_message(find_run(services.database, place, run))


@router.patch("/{run}", response_model=None)
def update(
    services: ServicesDependency,
    _principal: RunRegistrar,
    place: PlaceDependency,
    run: ResourceId,
    parameters: Annotated[UpdateParameters, Query()],
    body: JsonObject,
) -> dict[str, Json]:
    """Changes what the mask names; 409 when the run is not as the body's etag says."""
    known = find_run(services.database, place, run)
    changed = update_run(services, known.id, read_message(body, RUN), parameters.update_mask)
    name = managed_run_name(changed.parent, changed.id)
    done = finish(services.database, place_name(changed.parent), "update", name)
    return operation_message(done, run_values.run_message(changed))


@router.delete("/{run}", response_model=None)
def delete(
    services: ServicesDependency,
    principal: RunWriter,
    place: PlaceDependency,
    run: ResourceId,
    parameters: Annotated[DeleteParameters, Query()],
) -> dict[str, Json]:
    """Deletes a run; with its sessions only by `force`. Profiles in storage are not touched."""
    known = find_run(services.database, place, run)
    try:
        delete_run(
            services.database,
            known.id,
            etag=None,
            now=datetime.now(UTC),
            with_sessions=parameters.force,
            by=principal.name,
        )
    except RegistryError as error:
        if error.problem is not RegistryProblem.NOT_EMPTY:
            raise
        message = "This run has profiler sessions. Send force=true to delete them with it."
        raise ApiError(PRECONDITION, message) from error
    name = managed_run_name(known.parent, known.id)
    done = finish(services.database, place_name(known.parent), "delete", name)
    return operation_message(done, None)
