"""Finding the run that a managed name means, and what an operation was about."""

from __future__ import annotations

from server.managed.names import Place, normal_id
from server.managed.run_values import run_message
from server.managed.session_values import session_message
from server.registry import records
from server.registry.database import Database
from server.registry.errors import RegistryError, RegistryProblem, run_not_found
from server.registry.records import Json
from server.registry.runs import get_run
from server.registry.sessions import get_session
from server.site.public_address import dashboard_uri


def find_run(database: Database, place: Place, run_id: str) -> records.Run:
    """The run of this id in this place; also by the spelling that its client first asked for.

    Raises:
        RegistryError: NOT_FOUND, also for a run that lies elsewhere.
    """
    for spelling in dict.fromkeys((run_id, normal_id(run_id))):
        run = _run(database, spelling)
        if run is not None and place.holds(run.parent):
            return run
    raise run_not_found(run_id)


def target_message(database: Database, target: str, base: str) -> dict[str, Json] | None:
    """The run or session of a resource name as it is now, or None if it is gone.

    Args:
        database: the registry.
        target: its resource name.
        base: address of this hub's pages.
    """
    parts = target.split("/")
    run = _run(database, parts[5])
    if run is None or len(parts) == 6:
        return run_message(run) if run is not None else None
    try:
        session = get_session(database, run.id, parts[7])
    except RegistryError:
        return None
    return session_message(session, run.parent, dashboard_uri(base, run.id, session.id))


def _run(database: Database, run_id: str) -> records.Run | None:
    try:
        return get_run(database, run_id)
    except RegistryError as error:
        if error.problem is not RegistryProblem.NOT_FOUND:
            raise
        return None
