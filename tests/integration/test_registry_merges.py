"""Merged sessions in the registry, on both databases."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

import pytest

from server.registry import deleting, runs, sessions
from server.registry.database import Database
from server.registry.errors import RegistryError, RegistryProblem
from server.registry.records import ProfilerSession, SessionOrigin

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.fixture
def parts(database: Database) -> tuple[ProfilerSession, ...]:
    """A run with three sessions, the first the oldest."""
    runs.create_run(database, "r", runs.RunChanges(), creator="me", now=NOW)
    return tuple(
        sessions.create_session(
            database,
            "r",
            sessions.NewSession(name, (f"/p/{name}",), name),
            creator="me",
            now=NOW + timedelta(seconds=second),
        )
        for second, name in enumerate("abc")
    )


def merge(database: Database, name: str, *parts: ProfilerSession) -> ProfilerSession:
    new = sessions.NewSession(
        name,
        tuple(location for part in parts for location in part.locations),
        name,
        merged_from=tuple(SessionOrigin(part.id, part.uid) for part in parts),
    )
    return sessions.create_session(database, "r", new, creator="me", now=NOW)


def free(database: Database, most: int = 10) -> list[str]:
    return [session.id for session in sessions.list_free_sessions(database, "r", most)]


def test_a_merged_session_takes_its_parts_off_the_free_ones(
    database: Database, parts: tuple[ProfilerSession, ...]
) -> None:
    assert free(database) == ["c", "b", "a"]
    assert free(database, 2) == ["c", "b"]
    merged = merge(database, "m", *parts[:2])
    assert free(database) == ["c"]
    assert sessions.get_session(database, "r", "a") == parts[0]
    assert sessions.get_session(database, "r", "m") == merged
    assert sessions.find_session_by_uid(database, merged.uid) == merged
    deleting.delete_session(database, "r", "m", etag=None, now=NOW)
    assert free(database) == ["c", "b", "a"]


def test_a_session_is_part_of_one_merged_session_at_most(
    database: Database, parts: tuple[ProfilerSession, ...]
) -> None:
    merge(database, "m", *parts[:2])
    with pytest.raises(RegistryError, match="'b' is part of the merged session 'm'") as caught:
        merge(database, "n", *parts[1:])
    assert caught.value.problem is RegistryProblem.ALREADY_EXISTS
    assert free(database) == ["c"]


def test_a_merged_session_outlives_its_parts(
    database: Database, parts: tuple[ProfilerSession, ...]
) -> None:
    merged = merge(database, "m", *parts[:2])
    deleting.delete_session(database, "r", "a", etag=None, now=NOW)
    assert sessions.get_session(database, "r", "m") == merged


def test_a_merged_session_comes_back_unless_its_parts_are_merged_anew(
    database: Database, parts: tuple[ProfilerSession, ...]
) -> None:
    def undelete() -> ProfilerSession:
        return deleting.undelete_session(database, "r", "m", now=NOW, pin_if=lambda _: False)

    merge(database, "m", *parts[:2])
    deleting.delete_session(database, "r", "m", etag=None, now=NOW)
    merge(database, "n", *parts[1:])
    with pytest.raises(RegistryError, match="'n'") as refused:
        undelete()
    assert refused.value.problem is RegistryProblem.ALREADY_EXISTS
    deleting.delete_session(database, "r", "n", etag=None, now=NOW)
    # A part that was deleted meanwhile is no reason.
    deleting.delete_session(database, "r", "a", etag=None, now=NOW)
    assert undelete().id == "m"


def test_a_part_that_is_gone_or_was_replaced_is_not_found(
    database: Database, parts: tuple[ProfilerSession, ...]
) -> None:
    deleting.delete_session(database, "r", "a", etag=None, now=NOW)
    again = sessions.NewSession("a", ("/p/other",), "a")
    sessions.create_session(database, "r", again, creator="me", now=NOW)
    with pytest.raises(RegistryError, match="no session 'a'") as caught:
        merge(database, "m", *parts)
    assert caught.value.problem is RegistryProblem.NOT_FOUND


def test_of_merges_at_the_same_moment_one_wins(
    database: Database, parts: tuple[ProfilerSession, ...]
) -> None:
    barrier = threading.Barrier(4)
    outcomes: list[str] = []

    def try_one(number: int) -> None:
        barrier.wait()
        try:
            outcomes.append(merge(database, f"m{number}", *parts).id)
        except RegistryError as error:
            outcomes.append(error.problem.value)

    threads = [threading.Thread(target=try_one, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes)[:3] == ["already_exists"] * 3
    assert free(database) == []
