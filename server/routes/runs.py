"""`/v1/machineLearningRuns`: create, get, list, change and delete runs."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated
from uuid import uuid4

from fastapi import Depends, Header, Query, Request, Response

from auth.identity import Principal
from auth.policy import Action
from server.audit.notes import note_audited
from server.callers.access import api_router, require
from server.filters import RUN_FIELDS as RUN_FILTER
from server.filters import read_filter
from server.http.aip import SORTABLE, expected_etag, next_page_token, page_request
from server.http.errors import invalid_field
from server.http.masks import read_mask
from server.http.repeated import RepeatableParameters, make_once, repeatable
from server.lifecycle.showing import require_may_hold, with_purge_times
from server.names import run_name
from server.registry import deleting, records, runs
from server.registry.errors import RegistryError, RegistryProblem
from server.registry.requests import RepeatableRequest
from server.schemas import ApiModel, EmptyAnswer, ResourceId, Run, RunList, RunListParameters
from server.services import Services, ServicesDependency
from server.sessions.run_resources import RUN_DOCUMENTS, RUN_FIELDS, run_changes, run_resources

router = api_router("/v1/machineLearningRuns", "runs")

Reader = Annotated[Principal, Depends(require(Action.RUNS_READ))]
Writer = Annotated[Principal, Depends(require(Action.RUNS_WRITE))]
Registrar = Annotated[Principal, Depends(require(Action.RUNS_REGISTER))]
IfMatch = Annotated[str | None, Header()]


class CreateParameters(RepeatableParameters):
    """Parameters of a creation."""

    machine_learning_run_id: ResourceId | None = None
    """Id of the new run; made up when it is missing."""


class UpdateParameters(ApiModel):
    """Parameters of a change."""

    update_mask: str = ""
    """Fields to change, comma-separated; all that the body holds unless set; `*` for all there are. Parts of
    documents are named by their path: `labels.team`, `configs.userConfigs`, `workload.state`."""


class UpdateRunParameters(UpdateParameters):
    """Parameters of a change of a run."""

    allow_missing: bool = False
    """Whether to make the run when it is not there."""


class DeleteParameters(ApiModel):
    """Parameters of a deletion."""

    etag: str = ""


@router.post("", response_model_exclude_none=True)
def create_run(
    request: Request,
    services: ServicesDependency,
    principal: Registrar,
    parameters: Annotated[CreateParameters, Query()],
    body: Run,
) -> Run:
    """Makes a run. 409 when there is one of this id."""
    database = services.database
    wanted = parameters.machine_learning_run_id
    repeat = repeatable(principal, parameters.request_id, "machineLearningRuns", body, wanted)

    def make() -> records.Run:
        return _create(services, wanted or str(uuid4()), body, principal, repeat)

    made = make_once(database, repeat, make, lambda run: runs.get_run(database, run))
    note_audited(request, run_name(made.id))
    return run_resources(database, [made])[0]


@router.get("", response_model_exclude_none=True)
def list_runs(
    services: ServicesDependency,
    _principal: Reader,
    parameters: Annotated[RunListParameters, Query()],
) -> RunList:
    """Lists runs, newest first unless `orderBy` says otherwise."""
    context = ("runs", parameters.filter, *(["deleted"] if parameters.show_deleted else []))
    request = page_request(
        size=parameters.page_size,
        token=parameters.page_token,
        order_by=parameters.order_by,
        sortable=SORTABLE,
        context=context,
    )
    page = runs.list_runs(
        services.database,
        request,
        read_filter(parameters.filter, RUN_FILTER),
        with_deleted=parameters.show_deleted,
    )
    shown = run_resources(services.database, page.records)
    return RunList(
        machine_learning_runs=with_purge_times(services.settings, shown),
        next_page_token=next_page_token(page.next, request, context),
    )


@router.get("/{run}", response_model_exclude_none=True)
def get_run(
    services: ServicesDependency, _principal: Reader, run: ResourceId, response: Response
) -> Run:
    """Answers one run, with its etag also as a header."""
    record = runs.get_run(services.database, run)
    response.headers["ETag"] = f'"{record.etag}"'
    return run_resources(services.database, [record])[0]


@router.patch("/{run}", response_model_exclude_none=True)
def update_run(
    request: Request,
    services: ServicesDependency,
    principal: Writer,
    run: ResourceId,
    parameters: Annotated[UpdateRunParameters, Query()],
    body: Run,
    if_match: IfMatch = None,
) -> Run:
    """Changes the fields of the mask. 409 when the run is not as the etag says; then nothing changes.

    `state` ends the run, or opens it again (ACTIVE); so does `workload.state` in the words of Google's SDK.
    """
    if body.name and body.name != run_name(run):
        raise invalid_field("name", "This is the name of another run than the one in the path.")
    mask = read_mask(
        parameters.update_mask,
        fields=RUN_FIELDS,
        documents=RUN_DOCUMENTS,
        sent=body.model_fields_set,
    )
    etag = expected_etag(body.etag, if_match)
    database, may_read = services.database, services.settings.may_read

    def decide(old: records.Run) -> runs.RunChanges:
        changes = run_changes(old, body, mask, may_read)
        require_may_hold(principal, run_name(run), old.is_held, changes.is_held)
        return changes

    def change() -> records.Run:
        now = datetime.now(UTC)
        return runs.change_run(database, run, decide, etag=etag, now=now)

    try:
        changed = change()
    except RegistryError as error:
        is_missing = error.problem is RegistryProblem.NOT_FOUND
        if not (parameters.allow_missing and is_missing and etag is None):
            raise
        changed = _create_or(change, services, run, body, principal)
        note_audited(request, run_name(run), verb="create")
    return run_resources(database, [changed])[0]


@router.delete("/{run}")
def delete_run(
    services: ServicesDependency,
    principal: Writer,
    run: ResourceId,
    parameters: Annotated[DeleteParameters, Query()],
    if_match: IfMatch = None,
) -> EmptyAnswer:
    """Deletes a run with its sessions, and ends their links. Profiles in storage are not touched.

    For some days it can be brought back with `:undelete`. 409 while there is a hold on it or a part of it.
    """
    etag = expected_etag(parameters.etag, if_match)
    now = datetime.now(UTC)
    deleting.delete_run(services.database, run, etag=etag, now=now, by=principal.name)
    return EmptyAnswer()


@router.post("/{run}:undelete", response_model_exclude_none=True)
def undelete_run(services: ServicesDependency, _principal: Writer, run: ResourceId) -> Run:
    """Brings back the run of this id that was deleted last, with its sessions; links stay ended.

    409 when another run has its id by now, 404 when there is none that could come back.
    """
    record = deleting.undelete_run(services.database, run, now=datetime.now(UTC))
    return run_resources(services.database, [record])[0]


def _create(
    services: Services,
    run_id: str,
    body: Run,
    principal: Principal,
    repeat: RepeatableRequest | None = None,
) -> records.Run:
    mask = read_mask("", fields=RUN_FIELDS, documents=RUN_DOCUMENTS, sent=body.model_fields_set)
    values = run_changes(None, body, mask, services.settings.may_read)
    require_may_hold(principal, run_name(run_id), False, values.is_held)
    now = datetime.now(UTC)
    return runs.create_run(
        services.database, run_id, values, creator=principal.name, now=now, request=repeat
    )


def _create_or(
    change: Callable[[], records.Run],
    services: Services,
    run_id: str,
    body: Run,
    principal: Principal,
) -> records.Run:
    """Makes the run, or changes the one that somebody else made in this moment."""
    try:
        return _create(services, run_id, body, principal)
    except RegistryError as error:
        if error.problem is not RegistryProblem.ALREADY_EXISTS:
            raise
        return change()
