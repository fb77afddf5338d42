"""`machineLearningRuns:import` and `{run}:scan`: people who don't want to wait for the scanner.

An import is walked by its caller, page by page, so no job runs behind anybody's back, and it can be stopped
at any point and taken up again.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import Depends, Request

from auth.identity import Principal
from auth.policy import Action
from server.audit.notes import note_audited, note_unchanged
from server.callers.access import api_router, require
from server.discovery.importing import ImportedRun, ImportPage
from server.http.errors import invalid_field
from server.names import run_name
from server.registry import runs
from server.registry.records import Json
from server.schemas import ResourceId
from server.schemas.discovery import ImportAnswer, NewImport, ScanAnswer
from server.schemas.discovery import ImportedRun as ImportedRunResource
from server.services import ServicesDependency

router = api_router("/v1/machineLearningRuns", "runs")

_FOLDERS = 100
_FEWEST_ENTRIES = 2


@router.post(":import")
def import_runs(
    request: Request,
    services: ServicesDependency,
    principal: Annotated[Principal, Depends(require(Action.RUNS_WRITE))],
    body: NewImport,
) -> ImportAnswer:
    """Makes runs of folders that hold profiles, one page of folders at a time.

    Send `nextPageToken` as `pageToken` until it is empty. A page that is sent twice changes nothing the
    second time, and no file is read. What was deleted before is taken in again.
    """
    importer = services.discovery.importer(principal.name)
    page = importer.take_page(
        body.storage_uri.rstrip("/"),
        body.page_token,
        max(body.page_size or _FOLDERS, _FEWEST_ENTRIES),
        is_dry=body.validate_only,
        now=datetime.now(UTC),
    )
    if body.validate_only:
        note_unchanged(request)
    made: list[Json] = [run_name(run.run) for run in page.runs if run.new_sessions]
    note_audited(request, "machineLearningRuns", storageUri=body.storage_uri, runs=made)
    return _to_resource(page)


@router.post("/{run}:scan")
def scan_run(
    request: Request,
    services: ServicesDependency,
    _principal: Annotated[Principal, Depends(require(Action.SESSIONS_WRITE))],
    run: ResourceId,
) -> ScanAnswer:
    """Looks at once for new sessions in a run's folder, and next for new hosts of its open ones."""
    record = runs.get_run(services.database, run)
    found = services.discovery.scan_run(record, datetime.now(UTC))
    if found is None:
        raise invalid_field(
            "storageRoot",
            "It is not known where this run writes. Set its storageRoot, or attach sessions yourself.",
        )
    note_audited(request, run_name(run), newSessions=found.new)
    return ScanAnswer(new_sessions=found.new, open_sessions=found.still_open)


def _to_resource(page: ImportPage) -> ImportAnswer:
    return ImportAnswer(
        runs=tuple(_run_resource(run) for run in page.runs),
        looked_into=page.looked,
        next_page_token=page.next,
    )


def _run_resource(run: ImportedRun) -> ImportedRunResource:
    return ImportedRunResource(
        storage_folder_uri=run.folder,
        run=run_name(run.run),
        outcome=run.outcome.value,
        sessions=run.sessions,
        new_sessions=run.new_sessions,
    )
