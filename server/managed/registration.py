"""Making and changing runs as the managed API's clients do, jobs above all.

A job that is started again asks for its run under the same id, is told 409, reads the run and changes it. The
409 changes nothing that a client has set; but the start itself is history, and is noted as an attempt.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

from server.http.error_table import EXISTS
from server.http.errors import ApiError
from server.http.masks import checked_size
from server.managed import run_values
from server.managed.errors import RUN_TYPE, changed_meanwhile, exists
from server.managed.masks import Rules, updated
from server.managed.names import Place, chosen_id, made_up_id, managed_run_name
from server.managed.shapes import RUN
from server.managed.workloads import host_of, merged_workload, targets_of
from server.registry import records, runs
from server.registry.errors import RegistryError, RegistryProblem
from server.registry.records import Json
from server.registry.starts import create_started_run, note_start
from server.services import Services
from server.sessions.run_warnings import renewed_warnings

_RULES = Rules(RUN, run_values.SERVER_SET)
_OF_THE_SDK = "diagon_sdk"
"""What its label `created_by` says. Google's service labels the runs that it makes by itself otherwise."""
Fields = Mapping[str, Json]


def create_run(
    services: Services, place: Place, wanted: str, fields: Fields, *, creator: str
) -> records.Run:
    """Makes a run.

    Args:
        services: of this front end.
        place: where it belongs.
        wanted: the id that its client wants, or empty.
        fields: what is sent, read by `shapes.RUN`.
        creator: name of the principal.

    Raises:
        ApiError: 409 with the name of the run that is there, or naming a field.
    """
    run_id = chosen_id(wanted) if wanted else made_up_id(_name(fields))
    hosts = _starting(fields)
    if "workloadDetails" in fields:
        fields = {**fields, "workloadDetails": merged_workload(None, fields["workloadDetails"])}
    now = datetime.now(UTC)
    try:
        return create_started_run(
            services.database,
            run_id,
            _with_warnings(services, run_values.changes_to(fields), None),
            parent=place.name,
            hosts=hosts,
            creator=creator,
            now=now,
        )
    except RegistryError as error:
        if error.problem is not RegistryProblem.ALREADY_EXISTS:
            raise
    old = runs.get_run(services.database, run_id)
    if old.parent == place.name and wanted == run_id and hosts is not None:
        note_start(services.database, run_id, hosts, now)
    raise _taken(old, place, wanted)


def update_run(services: Services, run_id: str, fields: Fields, mask: str) -> records.Run:
    """Changes a run.

    Args:
        services: of this front end.
        run_id: the run.
        fields: what is sent, read by `shapes.RUN`.
        mask: `updateMask`.

    Raises:
        ApiError: 409 when it is not as the etag says, or naming a field.
        RegistryError: NOT_FOUND.
    """

    def decide(old: records.Run) -> runs.RunChanges:
        if fields.get("etag") and fields["etag"] != run_values.etag_of(old):
            raise changed_meanwhile()
        before = run_values.settable_fields(old)
        after = updated(before, fields, mask, _RULES)
        details = merged_workload(before.get("workloadDetails"), after.get("workloadDetails"))
        if details is not None:
            after["workloadDetails"] = details
        checked_size("workload_details", after)
        return _with_warnings(services, run_values.changes_to(after, old), old)

    now = datetime.now(UTC)
    return runs.change_run(services.database, run_id, decide, etag=None, now=now)


def _with_warnings(
    services: Services, changes: runs.RunChanges, old: records.Run | None
) -> runs.RunChanges:
    """The changes with what is odd about where the job writes, unless that stays."""
    root = changes.storage_root or ""
    if old is not None and root == old.storage_root:
        return changes
    return replace(changes, warnings=renewed_warnings(old, root, services.settings.may_read))


def _starting(fields: Fields) -> frozenset[str] | None:
    """The hosts of the job that registers itself, as far as it names them; None if it is no job.

    Outside Kubernetes each host of a job does so, for itself. Only the SDK asks for a run to say that it
    starts; whoever else asks again gets a 409 that changes nothing.
    """
    labels = fields.get("labels")
    if not isinstance(labels, dict) or labels.get("created_by") != _OF_THE_SDK:
        return None
    targets = targets_of(fields.get("workloadDetails"))
    return frozenset(name for one in targets if (name := host_of(one)))


def _name(fields: Fields) -> str:
    for key in ("displayName", "name"):
        value = fields.get(key)
        if isinstance(value, str) and value:
            return value.rpartition("/")[2]
    return ""


def _taken(old: records.Run, place: Place, wanted: str) -> ApiError:
    if old.parent != place.name:
        # Whose it is, is not for everyone who may register a job.
        message = f"The id {old.id!r} is taken outside this location; ids are unique in this hub."
        return ApiError(EXISTS, message)
    message = f"There is a run {old.id!r} already."
    if wanted != old.id:
        message = (
            f"{wanted!r} is written {old.id!r} as an id, and there is such a run already. Nothing "
            "was changed. Choose an id that differs in more than case and punctuation."
        )
    return exists(RUN_TYPE, managed_run_name(old.parent, old.id), message)
