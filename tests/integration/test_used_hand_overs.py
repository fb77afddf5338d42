"""Hand-overs that were used, in the registry: once over all front ends, and none stays for long."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

from sqlalchemy import select

from server.registry.database import Database
from server.registry.hand_overs import use_hand_over
from server.registry.leases import take_lease
from server.registry.models import LeaseRow

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def test_of_front_ends_that_are_asked_at_once_one_uses_it(database: Database) -> None:
    def use(_asker: int) -> bool:
        return use_hand_over(database, "mark", NOW + MINUTE, NOW)

    # Each thread has a connection of its own, as front ends have.
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(use, range(4)))
    assert sorted(answers) == [False, False, False, True]
    assert not use_hand_over(database, "mark", NOW + MINUTE, NOW)
    assert use_hand_over(database, "another", NOW + MINUTE, NOW)


def test_those_that_are_over_go_with_the_next_and_real_leases_stay(database: Database) -> None:
    assert take_lease(database, "hand", "me", now=NOW, lasting=MINUTE)
    assert take_lease(database, "prune", "me", now=NOW, lasting=MINUTE)
    for number in range(3):
        assert use_hand_over(database, f"m{number}", NOW + MINUTE, NOW)
    just_before = NOW + MINUTE - timedelta(seconds=1)
    assert not use_hand_over(database, "m1", NOW + MINUTE, just_before)
    assert use_hand_over(database, "later", NOW + 3 * MINUTE, NOW + MINUTE + timedelta(seconds=1))
    with database.reading() as session:
        names = list(session.scalars(select(LeaseRow.name).order_by(LeaseRow.name)))
    assert [name.partition(" ")[0] for name in names] == ["hand", "hand-over", "prune"]
    assert names[1].endswith(" later")
