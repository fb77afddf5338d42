"""`/v1/machineLearningRuns`: create, get, list, change and delete runs."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated
from uuid import uuid4

from fastapi import Depends, Header, Query, Response

from auth.identity import Principal
from auth.policy import Action
from server.access import api_router, require
from server.aip import expected_etag, masked_fields, next_page_token, page_request
from server.errors import invalid_field
from server.filters import parse_run_filter
from server.names import run_name
from server.registry import records, runs
from server.schemas import (
    ApiModel,
    EmptyAnswer,
    ResourceId,
    Run,
    RunList,
    RunListParameters,
)
from server.services import ServicesDependency

router = api_router("/v1/machineLearningRuns", "runs")

SORTABLE = {
    "name": "id",
    "displayName": "display_name",
    "createTime": "created",
    "updateTime": "updated",
}
_SETTABLE = frozenset({"display_name", "labels", "run_set", "configs", "artifacts"})

Reader = Annotated[Principal, Depends(require(Action.RUNS_READ))]
Writer = Annotated[Principal, Depends(require(Action.RUNS_WRITE))]
IfMatch = Annotated[str | None, Header()]


class CreateParameters(ApiModel):
    """Parameters of a creation."""

    machine_learning_run_id: ResourceId | None = None
    """Id of the new run; made up when it is missing."""


class UpdateParameters(ApiModel):
    """Parameters of a change."""

    update_mask: str = ""
    """Fields to change, comma-separated; all that the body holds unless set; `*` for all there are."""


class DeleteParameters(ApiModel):
    """Parameters of a deletion."""

    etag: str = ""


@router.post("", response_model_exclude_none=True)
def create_run(
    services: ServicesDependency,
    principal: Writer,
    parameters: Annotated[CreateParameters, Query()],
    body: Run,
) -> Run:
    """Makes a run. 409 when there is one of this id."""
    run_id = parameters.machine_learning_run_id or str(uuid4())
    values = _changes(body, body.model_fields_set & _SETTABLE)
    now = datetime.now(UTC)
    created = runs.create_run(services.database, run_id, values, creator=principal.name, now=now)
    return to_resource(created)


@router.get("", response_model_exclude_none=True)
def list_runs(
    services: ServicesDependency,
    _principal: Reader,
    parameters: Annotated[RunListParameters, Query()],
) -> RunList:
    """Lists runs, newest first unless `orderBy` says otherwise."""
    context = ("runs", parameters.filter)
    request = page_request(
        size=parameters.page_size,
        token=parameters.page_token,
        order_by=parameters.order_by,
        sortable=SORTABLE,
        context=context,
    )
    page = runs.list_runs(services.database, request, parse_run_filter(parameters.filter))
    return RunList(
        machine_learning_runs=[to_resource(run) for run in page.records],
        next_page_token=next_page_token(page.next, request, context),
    )


@router.get("/{run}", response_model_exclude_none=True)
def get_run(
    services: ServicesDependency, _principal: Reader, run: ResourceId, response: Response
) -> Run:
    """Answers one run, with its etag also as a header."""
    record = runs.get_run(services.database, run)
    response.headers["ETag"] = f'"{record.etag}"'
    return to_resource(record)


@router.patch("/{run}", response_model_exclude_none=True)
def update_run(
    services: ServicesDependency,
    _principal: Writer,
    run: ResourceId,
    parameters: Annotated[UpdateParameters, Query()],
    body: Run,
    if_match: IfMatch = None,
) -> Run:
    """Changes the fields of the mask. 409 when the run is not as the etag says; then nothing changes."""
    if body.name and body.name != run_name(run):
        raise invalid_field("name", "This is the name of another run than the one in the path.")
    fields = masked_fields(parameters.update_mask, _SETTABLE, body.model_fields_set)
    etag = expected_etag(body.etag, if_match)
    changes = _changes(body, fields)
    now = datetime.now(UTC)
    return to_resource(runs.update_run(services.database, run, changes, etag=etag, now=now))


@router.delete("/{run}")
def delete_run(
    services: ServicesDependency,
    _principal: Writer,
    run: ResourceId,
    parameters: Annotated[DeleteParameters, Query()],
    if_match: IfMatch = None,
) -> EmptyAnswer:
    """Deletes a run with its sessions, and ends their links. Profiles in storage are not touched."""
    etag = expected_etag(parameters.etag, if_match)
    runs.delete_run(services.database, run, etag=etag, now=datetime.now(UTC))
    return EmptyAnswer()


def to_resource(run: records.Run) -> Run:
    """A run as the API shows it."""
    return Run(
        name=run_name(run.id),
        uid=run.uid,
        etag=run.etag,
        creator=run.creator,
        create_time=run.created,
        update_time=run.updated,
        display_name=run.display_name,
        labels=dict(run.labels),
        run_set=run.run_set,
        configs=dict(run.configs),
        artifacts=dict(run.artifacts),
    )


def _changes(body: Run, fields: frozenset[str] | set[str]) -> runs.RunChanges:
    """The values of these fields; what the mask names and the body lacks becomes empty."""
    return runs.RunChanges(
        display_name=body.display_name if "display_name" in fields else None,
        labels=body.labels if "labels" in fields else None,
        run_set=body.run_set if "run_set" in fields else None,
        configs=body.configs if "configs" in fields else None,
        artifacts=body.artifacts if "artifacts" in fields else None,
    )
