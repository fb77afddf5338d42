"""Runs between the API and the registry: how a record is shown, and what a body and its mask change.

No route and no query that a route does not ask for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from pydantic import ValidationError

from loader.errors import LoaderError
from loader.storage.address import is_gcs, parse_gcs
from server.http.errors import ApiError, invalid_field
from server.http.masks import Document, Mask, changed_document
from server.names import run_name, to_camel
from server.registry import records, runs
from server.registry.database import Database
from server.registry.records import Json, RunState
from server.registry.run_facts import RunFacts, facts_of
from server.schemas import Attempt, Run
from server.sessions.run_warnings import MayRead, renewed_warnings

RUN_FIELDS = frozenset(
    {
        "display_name",
        "labels",
        "run_set",
        "configs",
        "artifacts",
        "tools",
        "workload",
        "storage_root",
        "note",
        "state",
        "held",
    }
)
"""Fields of a run that a client may set, in snake_case."""
RUN_DOCUMENTS = frozenset({"labels", "configs", "artifacts", "workload"})
"""Those of them that it may change in parts."""
WORKLOAD_STATES: Mapping[str, RunState] = MappingProxyType(
    {
        "STATE_RUNNING": RunState.ACTIVE,
        "STATE_SUCCEEDED": RunState.COMPLETED,
        "STATE_FAILED": RunState.FAILED,
        **{state.value: state for state in RunState},
    }
)
"""What `workload.state` may say: the words of Google's SDK, and ours."""


def run_resource(run: records.Run, facts: RunFacts) -> Run:
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
        tools=[tool for tool in run.tools if isinstance(tool, dict)],
        workload=dict(run.workload),
        storage_root=run.storage_root,
        note=run.note,
        state=run.state,
        end_time=run.ended,
        last_seen_time=run.seen,
        attempts=[
            Attempt(number=one.number, state=one.state, start_time=one.started, end_time=one.ended)
            for one in facts.attempts
        ],
        warnings=list(run.warnings),
        session_count=facts.sessions,
        held=run.is_held or None,
        delete_time=run.deleted,
    )


def run_resources(database: Database, found: Sequence[records.Run]) -> list[Run]:
    """Runs as the API shows them, with what belongs to them."""
    return [
        run_resource(run, facts)
        for run, facts in zip(found, facts_of(database, found), strict=True)
    ]


def run_changes(
    old: records.Run | None, body: Run, mask: Mask, may_read: MayRead
) -> runs.RunChanges:
    """What a body changes in a run; for one that is not there yet, what it sets.

    What the mask names and the body lacks becomes empty. A storage root that this hub may not read is
    kept, with a warning that says what to set.

    Args:
        old: the run as it is.
        body: what was sent.
        mask: what of it counts.
        may_read: whether a location lies below the storage roots.

    Raises:
        ApiError: naming the field that would become what it may not be.
    """
    workload = _document("workload", old.workload if old else {}, body.workload, mask)
    # Google's SDK tells how its job ended inside `workload`; a run has one state.
    told = workload.pop("state", None) if workload is not None else None
    state = body.state if mask.covers("state") and body.state is not None else _told_state(told)
    root = _storage_root(body.storage_root) if mask.covers("storage_root") else None
    return runs.RunChanges(
        display_name=body.display_name if mask.covers("display_name") else None,
        labels=_labels(old.labels if old else {}, body, mask),
        run_set=body.run_set if mask.covers("run_set") else None,
        configs=_document("configs", old.configs if old else {}, body.configs, mask),
        artifacts=_document("artifacts", old.artifacts if old else {}, body.artifacts, mask),
        tools=list(body.tools) if mask.covers("tools") else None,
        workload=workload,
        storage_root=root,
        note=body.note if mask.covers("note") else None,
        warnings=None if root is None else renewed_warnings(old, root, may_read),
        is_held=bool(body.held) if mask.covers("held") else None,
        state=state,
    )


def _labels(old: Mapping[str, str], body: Run, mask: Mask) -> dict[str, str] | None:
    changed = changed_document("labels", dict(old), dict(body.labels), mask)
    return None if changed is None else dict(_checked("labels", changed).labels)


def _document(field: str, old: Document, body: Document, mask: Mask) -> dict[str, Json] | None:
    changed = changed_document(field, old, body, mask)
    if changed is not None and not mask.covers(field):
        _checked(field, changed)
    return changed


def _checked(field: str, value: dict[str, Json]) -> Run:
    """A run with this field, which was changed in parts.

    Raises:
        ApiError: the whole is not what the field may be.
    """
    try:
        return Run.model_validate({field: value})
    except ValidationError as error:
        problem = error.errors()[0]
        place = ".".join(str(part) for part in problem["loc"]) or to_camel(field)
        raise invalid_field(place, problem["msg"].removeprefix("Value error, ")) from error


def _told_state(told: Json) -> RunState | None:
    if told is None:
        return None
    state = WORKLOAD_STATES.get(told) if isinstance(told, str) else None
    if state is None:
        known = ", ".join(WORKLOAD_STATES)
        raise invalid_field("workload.state", f"Send one of {known}.")
    return state


def _storage_root(text: str) -> str:
    """The address without a slash at its end.

    Raises:
        ApiError: it is neither a bucket's address nor an absolute path.
    """
    try:
        if is_gcs(text):
            parse_gcs(text)
        elif text and not text.startswith("/"):
            raise _no_address()
    except LoaderError as error:
        raise _no_address() from error
    return text.rstrip("/") if text.strip("/") else text


def _no_address() -> ApiError:
    return invalid_field("storageRoot", "Send gs://bucket/prefix or an absolute path.")
