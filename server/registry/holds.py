"""Legal holds: what they keep, asked inside the transactions of whoever would change it.

A hold keeps profiles from being deleted by anybody, until somebody who may has lifted it.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from server.registry.database import Database
from server.registry.errors import RegistryError, RegistryProblem, session_not_found
from server.registry.models import RunRow, SessionRow
from server.registry.people_models import RunGroupRow


def holds_on(session: Session, run: RunRow) -> Sequence[str]:
    """What keeps a run and all that it has: itself, or its group; in words.

    The group is held in place until the transaction ends, so that a hold on it and a deletion have an order.
    """
    found = ["the run"] if run.is_held else []
    return [*found, f"the run group {run.run_set!r}"] if is_group_held(session, run) else found


def is_group_held(session: Session, run: RunRow) -> bool:
    """Whether there is a hold on the run's group; as `holds_on`."""
    if not run.run_set:
        return False
    query = select(RunGroupRow).where(RunGroupRow.id == run.run_set).with_for_update(read=True)
    group = session.scalar(query)
    return group is not None and group.is_held


def require_not_held(session: Session, refused: str, run: RunRow, own: str = "") -> None:
    """Refuses what a hold forbids.

    Args:
        session: the transaction.
        refused: what can't be done, in words that begin a sentence.
        run: the run that it is about, locked.
        own: what else is known to be held, in words; empty for nothing.

    Raises:
        RegistryError: HELD.
    """
    held = [own] if own else []
    held += holds_on(session, run)
    if held:
        raise RegistryError(
            RegistryProblem.HELD,
            f"{refused}: there is a hold on {' and '.join(held)}. An admin can lift it, by setting held to "
            "false.",
        )


def require_may_leave(session: Session, run: RunRow, group: str) -> None:
    """Refuses to take a locked run out of a group that is held: its hold would end for the run.

    Raises:
        RegistryError: HELD.
    """
    if group != run.run_set and is_group_held(session, run):
        raise RegistryError(
            RegistryProblem.HELD,
            f"The run can't leave its group: there is a hold on the run group {run.run_set!r}. An admin can "
            "lift it, by setting held to false.",
        )


def require_files_free(database: Database, run_id: str, session_id: str, refused: str) -> None:
    """Refuses to take files from a session that is held.

    Raises:
        RegistryError: HELD, or NOT_FOUND.
    """
    with database.writing() as session:
        run = session.scalar(
            select(RunRow).where(RunRow.id == run_id).with_for_update(key_share=True)
        )
        query = select(SessionRow.is_held).where(SessionRow.id == session_id)
        is_held = session.scalar(query.where(SessionRow.run_key == run.key)) if run else None
        if run is None or is_held is None:
            raise session_not_found(run_id, session_id)
        require_not_held(session, refused, run, "the session" if is_held else "")
