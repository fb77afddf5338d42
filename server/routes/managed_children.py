"""`/v1alpha/…/profilerTargets` and `monitoredEvents`: what else clients read of a run.

Targets are the hosts that its workload has told of. Events are what Google's service finds in a run's
metrics; this hub looks at none, so there are none.
"""

from __future__ import annotations

from server.http.error_table import NOT_FOUND
from server.http.errors import ApiError
from server.managed.access import PlaceDependency, SessionReader, managed_router
from server.managed.lookups import find_run
from server.managed.workloads import profiler_targets
from server.registry.records import Json
from server.schemas import ResourceId
from server.services import ServicesDependency

router = managed_router("/machineLearningRuns/{run}")


@router.get("/profilerTargets", response_model=None)
def list_targets(
    services: ServicesDependency, _principal: SessionReader, place: PlaceDependency, run: ResourceId
) -> dict[str, Json]:
    """Lists a run's hosts, all on one page."""
    found = profiler_targets(find_run(services.database, place, run))
    return {"profilerTargets": [*found]}


@router.get("/profilerTargets/{target}", response_model=None)
def get_target(
    services: ServicesDependency,
    _principal: SessionReader,
    place: PlaceDependency,
    run: ResourceId,
    target: str,
) -> dict[str, Json]:
    """Answers one host."""
    for one in profiler_targets(find_run(services.database, place, run)):
        if str(one["name"]).rpartition("/")[2] == target:
            return one
    raise ApiError(NOT_FOUND, f"Run {run!r} has no host {target!r}.")


@router.get("/monitoredEvents", response_model=None)
def list_events(
    services: ServicesDependency, _principal: SessionReader, place: PlaceDependency, run: ResourceId
) -> dict[str, Json]:
    """Lists a run's events: none."""
    find_run(services.database, place, run)
    return {"monitoredEvents": []}


@router.get("/monitoredEvents/{event}", response_model=None)
def get_event(
    services: ServicesDependency,
    _principal: SessionReader,
    place: PlaceDependency,
    run: ResourceId,
    event: str,
) -> dict[str, Json]:
    """There is no event."""
    find_run(services.database, place, run)
    raise ApiError(NOT_FOUND, f"Run {run!r} has no event {event!r}: this hub watches no metrics.")
