"""Runs in the managed API's shape: how a record is shown, and what a message sets.

`runPhase` and `state` say what `Run.state` is, a lost run among the failed ones. What the registry has no
place of its own for lies in `Run.workload`: the orchestrator, the workload's details, the error, and whatever
this API does not name.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from types import MappingProxyType

from server.managed.errors import checked
from server.managed.names import managed_run_name
from server.managed.workloads import shown_targets
from server.registry import records, runs
from server.registry.records import Json, RunState
from server.schemas import Run

OTHER_FIELDS = "otherFields"
"""Where `Run.workload` keeps what the managed API does not name."""
SERVER_SET = frozenset(
    {"name", "etag", "state", "createTime", "updateTime", "endTime", "metrics", "@type"}
)
"""Fields that clients send back as they read them."""
SETTABLE = frozenset(
    {"displayName", "runSet", "runGroup", "configs", "tools", "labels", "artifacts"}
    | {"orchestrator", "workloadDetails", "runPhase", "errorDetails"}
)
"""All other fields that the API names."""

_IN_WORKLOAD = ("orchestrator", "workloadDetails", "errorDetails", "runGroup")
_SHARED = ("displayName", "labels", "configs", "artifacts", "tools")
_NAMES: Mapping[str, str] = MappingProxyType({"storageRoot": "artifacts.gcsPath"})
_PHASES: Mapping[RunState, str] = MappingProxyType(
    {
        RunState.ACTIVE: "ACTIVE",
        RunState.COMPLETED: "COMPLETED",
        RunState.FAILED: "FAILED",
        RunState.LOST: "FAILED",
    }
)
_STATES: Mapping[str, RunState] = MappingProxyType(
    {"ACTIVE": RunState.ACTIVE, "COMPLETED": RunState.COMPLETED, "FAILED": RunState.FAILED}
)
_STATE_PREFIX = "STATE_"
Message = Mapping[str, Json]


def run_message(run: records.Run) -> dict[str, Json]:
    """A run as the managed API shows it."""
    shown: dict[str, Json] = {
        "name": managed_run_name(run.parent, run.id),
        **settable_fields(run),
        "etag": etag_of(run),
        "state": f"{_STATE_PREFIX}{_PHASES[run.state]}",
        "createTime": timestamp(run.created),
        "updateTime": timestamp(run.updated),
    }
    if run.ended is not None:
        shown["endTime"] = timestamp(run.ended)
    return shown


def settable_fields(run: records.Run) -> dict[str, Json]:
    """What a client has set, or could have."""
    workload = run.workload
    others = workload.get(OTHER_FIELDS)
    shown: dict[str, Json] = {
        **(others if isinstance(others, dict) else {}),
        "displayName": run.display_name,
        "runSet": run.run_set,
        "configs": dict(run.configs),
        "tools": list(run.tools),
        "labels": dict(run.labels),
        "artifacts": dict(run.artifacts),
        "runPhase": _PHASES[run.state],
        **{key: workload[key] for key in _IN_WORKLOAD if key in workload},
    }
    details = shown.get("workloadDetails")
    if isinstance(details, dict) and "targets" in details:
        shown["workloadDetails"] = {**details, "targets": shown_targets(details["targets"])}
    return shown


def etag_of(run: records.Run) -> str:
    """Names what the client has set, without the workload's targets.

    Targets are only ever added and merged, so that hosts that all add themselves at once contradict each
    other in nothing, and need not be refused.
    """
    fields = settable_fields(run)
    details = fields.get("workloadDetails")
    if isinstance(details, dict):
        fields["workloadDetails"] = {
            key: value for key, value in details.items() if key != "targets"
        }
    text = json.dumps([run.uid, fields], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def changes_to(fields: Message, old: records.Run | None = None) -> runs.RunChanges:
    """What the registry keeps of these fields; those that are missing become empty.

    Args:
        fields: all that is set after the change, read by `shapes.RUN`.
        old: the run as it is, or None for a new one.

    Raises:
        ApiError: naming the field whose value can't be kept.
    """
    workload = _workload(fields, old)
    root = _root(fields)
    values = {name: fields[name] for name in _SHARED if name in fields}
    group = fields.get("runSet") or fields.get("runGroup", "")
    known = checked(
        Run, {**values, "runSet": group, "workload": workload, "storageRoot": root}, _NAMES
    )
    return runs.RunChanges(
        display_name=known.display_name or (old.id if old else None),
        labels=dict(known.labels),
        run_set=known.run_set,
        configs=dict(known.configs),
        artifacts=dict(known.artifacts),
        tools=list(known.tools),
        workload=workload,
        storage_root=root or (old.storage_root if old else ""),
        state=_state(fields, old),
    )


def timestamp(moment: datetime) -> str:
    """A moment as protocol buffers' JSON writes it."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _workload(fields: Message, old: records.Run | None) -> dict[str, Json]:
    others = {key: fields[key] for key in fields if key not in SETTABLE | SERVER_SET}
    workload = {key: fields[key] for key in _IN_WORKLOAD if key in fields}
    if old is not None:
        # What /v1 or a job has put there is not this API's to remove.
        foreign = set(old.workload) - set(_IN_WORKLOAD) - {OTHER_FIELDS}
        workload |= {key: old.workload[key] for key in foreign}
    return workload | ({OTHER_FIELDS: others} if others else {})


def _state(fields: Message, old: records.Run | None) -> RunState | None:
    """The state that the fields ask for, or None where it stays.

    Whoever sends back the phase of a lost run as it was shown does not say that it failed.
    """
    phase = fields.get("runPhase")
    if phase is None and old is None:
        # xprofiler registers what is over already, and says so in a field that is only for reading.
        phase = _text(fields.get("state")).removeprefix(_STATE_PREFIX)
    if old is not None and phase == _PHASES[old.state]:
        return None
    return _STATES.get(phase) if isinstance(phase, str) else None


def _root(fields: Message) -> str:
    artifacts = fields.get("artifacts")
    path = artifacts.get("gcsPath") if isinstance(artifacts, dict) else None
    return _text(path).rstrip("/")


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""
