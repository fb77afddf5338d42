"""The hosts that a run's workload has told of: `workloadDetails.targets`.

Each host of a job adds itself, and reads the list back to find the name under which it may report a session.
So targets are merged by host, never taken away, and each has a `displayName`, without which the SDK drops its
sessions.
"""

from __future__ import annotations

from collections.abc import Mapping

from server.managed.names import managed_run_name
from server.names import is_id
from server.registry import records
from server.registry.records import Json

Message = Mapping[str, Json]


def merged_workload(old: Json, new: Json) -> Json:
    """New details of a workload, with the targets of both."""
    if not isinstance(new, dict) and not targets_of(old):
        return new
    details = dict(new) if isinstance(new, dict) else {}
    targets = merged_targets(targets_of(old), targets_of(details))
    return {**details, "targets": targets} if targets else details


def merged_targets(old: list[dict[str, Json]], new: list[dict[str, Json]]) -> list[Json]:
    """The targets of both, one for each host, the first one first."""
    found: dict[str, dict[str, Json]] = {}
    for target in (*old, *new):
        name = host_of(target)
        found[name] = {**found.get(name, {}), **target}
    return list(found.values())


def shown_targets(targets: Json) -> list[Json]:
    """Targets with the names that the SDK looks for."""
    return [
        {**target, "displayName": target.get("displayName") or host_of(target)}
        for target in targets_of({"targets": targets})
    ]


def targets_of(details: Json) -> list[dict[str, Json]]:
    """The targets in a workload's details."""
    found = details.get("targets") if isinstance(details, dict) else None
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def host_of(target: Message) -> str:
    """What tells a target from the others.

    The SDK's `instanceId` can't: outside Google Cloud it is the same for all.
    """
    for key in ("hostname", "displayName", "instanceId"):
        value = target.get(key)
        if isinstance(value, str) and value:
            return value
    return ""


def profiler_targets(run: records.Run) -> list[dict[str, Json]]:
    """A run's hosts as `profilerTargets`; what can't be part of a name is numbered."""
    found: list[dict[str, Json]] = []
    for index, target in enumerate(targets_of(run.workload.get("workloadDetails"))):
        name = target.get("displayName") or host_of(target)
        last = name if isinstance(name, str) and is_id(name) else f"target-{index}"
        found.append(
            {
                "name": f"{managed_run_name(run.parent, run.id)}/profilerTargets/{last}",
                "hostname": host_of(target),
                "nodeIndex": index,
                "isMaster": index == 0,
            }
        )
    return found
