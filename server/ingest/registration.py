"""How a job's registration is read: the fields of Google's SDK, those it may send one day, and all others.

The SDK (1.0.10, self-hosted mode) sends `logicalId`, `displayName`, `creator`, `clusterId`, `workload` and
`baseBlobPath`, and names them in `update_mask`. Its managed mode tells more of a run; whoever sends the same
here is understood. What has no place of its own is kept in the run's `workload`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from server.http.limited_body import MAX_BODY_BYTES
from server.ingest.cleaning import MOST_LABELS, clean_id, clean_json, clean_labels, clean_line
from server.names import to_camel, to_snake
from server.registry.records import Json, Run
from server.registry.runs import MOST_WARNINGS, RunChanges
from server.sessions.run_warnings import MayRead, storage_warnings

MOST_TOOLS = 64
"""As `server.schemas.Run` has them: a run with more could not be shown, nor any list that holds it."""
_NOT_KEPT = frozenset({"name", "etag", "uid", "logical_id", "request_id"})
_EVERYTHING = frozenset({"", "*"})


@dataclass(frozen=True)
class Registration:
    """What a job said when it began, as far as it can be kept.

    Attributes:
        run_id: id of the run.
        fields: what the run has a place for, by snake_case names.
        others: all else, by camelCase names.
        mask: those of them that change a run which is there already; None for all.
        warnings: what could not be taken as it was sent, or is odd.
    """

    run_id: str
    fields: Mapping[str, Json]
    others: Mapping[str, Json]
    mask: frozenset[str] | None
    warnings: tuple[str, ...]

    @property
    def details(self) -> dict[str, Json]:
        """What is kept with the attempt."""
        return {"sent": {**self.fields, **self.others}, "warnings": list(self.warnings)}

    def said(self, run: Run | None) -> tuple[Mapping[str, Json], Mapping[str, Json]]:
        """The fields and the others that count: for a run that is there those of the mask, else all."""
        if run is None or self.mask is None:
            return self.fields, self.others
        fields = {name: value for name, value in self.fields.items() if name in self.mask}
        others = {name: value for name, value in self.others.items() if to_snake(name) in self.mask}
        return fields, others


def read_registration(body: Mapping[str, Json], mask: str, may_read: MayRead) -> Registration:
    """Reads a registration; never refuses one.

    Args:
        body: the request's JSON object.
        mask: its `update_mask`.
        may_read: whether a location can be read.
    """
    cleaned = clean_json(dict(body))
    given = cleaned if isinstance(cleaned, dict) else {}
    warnings = [] if given == body else ["Parts of what the job sent could not be kept."]
    names = {to_snake(key): key for key in given}
    wanted = given.get(names.get("logical_id", "")) or _last_part(given.get("name"))
    run_id = clean_id(wanted)
    if run_id != wanted:
        warnings.append(
            "The job's logicalId can't be an id here, or is missing, so the run got another one. Processes "
            "that don't read the answer write their profiles elsewhere."
        )
    known = {
        name: given[key]
        for name, key in names.items()
        if name in _READERS and given[key] is not None
    }
    fields = {name: value for name, value in known.items() if _READERS[name](value) is not None}
    tools = fields.get("tools")
    if isinstance(tools, list) and len(tools) > MOST_TOOLS:
        fields["tools"] = tools[:MOST_TOOLS]
        warnings.append(f"The job sent {len(tools)} tools, and {MOST_TOOLS} of them were kept.")
    warnings += [
        f"The job sent {to_camel(name)} in a form that is not known here; it is kept in the workload."
        for name in sorted(known.keys() - fields.keys())
    ]
    others = {
        to_camel(key) if "_" in key else key: given[key]
        for name, key in names.items()
        if name not in fields and name not in _NOT_KEPT
    }
    warnings += storage_warnings(storage_root_of(fields), may_read)
    return Registration(run_id, fields, others, _mask_fields(mask), tuple(warnings))


def changes_of(registration: Registration, run: Run | None, last: Mapping[str, Json]) -> RunChanges:
    """What a registration changes.

    Args:
        registration: what the job says.
        run: the run as it is, or None when it is made.
        last: `Registration.details` of the run's newest attempt.
    """
    sent, others = registration.said(run)
    labels = clean_labels(sent.get("labels"))
    root = storage_root_of(sent)
    return RunChanges(
        display_name=_display_name(sent, run, last),
        labels=_labels(labels, run),
        run_set=clean_line(sent.get("run_set", sent.get("run_group"))),
        configs=_object(sent.get("configs")),
        artifacts=_object(sent.get("artifacts")),
        tools=_objects(sent.get("tools")),
        workload=_workload(sent, others, run),
        storage_root=root or None,
        warnings=_warnings(registration, run, root, last),
    )


def storage_root_of(fields: Mapping[str, Json]) -> str:
    """Where the job writes, without a slash at the end; empty when it doesn't say."""
    artifacts = _object(fields.get("artifacts")) or {}
    bucket_path = artifacts.get("gcsPath", artifacts.get("gcs_path"))
    text = clean_line(fields.get("base_blob_path")) or clean_line(bucket_path) or ""
    return text.rstrip("/") or text


def _display_name(
    sent: Mapping[str, Json], run: Run | None, last: Mapping[str, Json]
) -> str | None:
    """The name that the job gives, unless a person gave the run another one since."""
    name = clean_line(sent.get("display_name"))
    if run is None or name is None:
        return name
    before = (_object(last.get("sent")) or {}).get("display_name")
    return name if run.display_name in {"", run.id, clean_line(before)} else None


def _labels(sent: dict[str, str] | None, run: Run | None) -> dict[str, str] | None:
    """The job's labels and as many of the others as a run may have."""
    if sent is None:
        return None
    others = {key: value for key, value in (run.labels if run else {}).items() if key not in sent}
    return {**sent, **dict(list(others.items())[: MOST_LABELS - len(sent)])}


def _workload(
    sent: Mapping[str, Json], others: Mapping[str, Json], run: Run | None
) -> dict[str, Json]:
    new = {**others, **(_object(sent.get("workload")) or {})}
    merged = {**(run.workload if run else {}), **new}
    if len(json.dumps(merged)) > MAX_BODY_BYTES:
        merged = new
    # A run has one state, and it has just begun.
    merged.pop("state", None)
    return merged


def _warnings(
    registration: Registration, run: Run | None, root: str, last: Mapping[str, Json]
) -> list[str]:
    """The run's warnings, without those that the last registration brought and this one doesn't."""
    old = last.get("warnings")
    outdated = set(map(str, old)) if isinstance(old, list) else set()
    kept = [text for text in (run.warnings if run else ()) if text not in outdated]
    if run is not None and root and run.storage_root and root != run.storage_root:
        kept.append(
            f"A later attempt of the job writes to {root}, an earlier one wrote to {run.storage_root}."
        )
    return list(dict.fromkeys([*kept, *registration.warnings]))[-MOST_WARNINGS:]


def _mask_fields(mask: str) -> frozenset[str] | None:
    paths = {part.strip() for part in mask.split(",")}
    if paths <= _EVERYTHING or "*" in paths:
        return None
    return frozenset(to_snake(path.partition(".")[0]) for path in paths)


def _last_part(value: Json) -> str:
    return value.rpartition("/")[2] if isinstance(value, str) else ""


def _object(value: Json) -> dict[str, Json] | None:
    return value if isinstance(value, dict) else None


def _objects(value: Json) -> list[Json] | None:
    is_right = isinstance(value, list) and all(isinstance(entry, dict) for entry in value)
    return value if isinstance(value, list) and is_right else None


_READERS: Mapping[str, Callable[[Json], object]] = {
    "display_name": clean_line,
    "labels": clean_labels,
    "run_set": clean_line,
    "run_group": clean_line,
    "configs": _object,
    "artifacts": _object,
    "tools": _objects,
    "workload": _object,
    "base_blob_path": clean_line,
}
"""How each field that a run has a place for is read; None from a reader: it is of another kind."""
