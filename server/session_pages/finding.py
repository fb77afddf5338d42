"""The session that a page's path names."""

from __future__ import annotations

from server.callers.signed_in import NothingThereError
from server.names import is_id
from server.registry.openings import find_opened
from server.registry.records import ProfilerSession
from server.services import Services


def require_session(services: Services, run: str, session: str) -> ProfilerSession:
    """The session of these ids; asks the database.

    Raises:
        NothingThereError: there is none.
    """
    found = find_opened(services.database, run, session) if is_id(run) and is_id(session) else None
    if found is None:
        raise NothingThereError
    return found[0]
