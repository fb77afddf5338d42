"""A token that was made with another one ends with it, whoever is faster, on both databases."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from auth.identity import ApiToken, ParentEndedError, Role, create_token
from server.registry.database import Database
from server.registry.tokens import SqlTokenStore

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
TICK = timedelta(seconds=1)


def made(store: SqlTokenStore, parent: str = "", expires: datetime | None = None) -> ApiToken:
    token, _ = create_token(
        store,
        name="t",
        role=Role.VIEWER,
        creator="me",
        now=NOW,
        expires=expires,
        parent=parent,
    )
    return token


def test_all_that_were_made_with_a_token_end_with_it(database: Database) -> None:
    store = SqlTokenStore(database)
    parent, other = made(store), made(store)
    child = made(store, parent.id)
    grandchild = made(store, child.id)
    before = made(store, parent.id)
    store.revoke_token(before.id, NOW)
    store.revoke_token(parent.id, NOW + TICK)
    assert store.get_token(child.id).revoked == NOW + TICK
    assert store.get_token(grandchild.id).revoked == NOW + TICK
    assert store.get_token(before.id).revoked == NOW
    assert store.get_token(other.id).revoked is None


@pytest.mark.parametrize("ended", ["revoked", "expired", "unknown"])
def test_nothing_is_made_with_a_token_that_has_ended(database: Database, ended: str) -> None:
    store = SqlTokenStore(database)
    parent = made(store, expires=NOW + TICK).id
    if ended == "revoked":
        store.revoke_token(parent, NOW)
    late = NOW + TICK if ended == "expired" else NOW
    token = ApiToken("x", "t", Role.VIEWER, late, None, None, "me", parent)
    if ended == "unknown":
        token = ApiToken("x", "t", Role.VIEWER, NOW, None, None, "me", "nobody")
    with pytest.raises(ParentEndedError):
        store.add_token(token, "digest")
    assert store.find_token_by_id("x") is None


def test_no_token_slips_through_while_its_parent_is_revoked(database: Database) -> None:
    store = SqlTokenStore(database)

    def add(parent: str) -> str:
        try:
            return made(store, parent).id
        except ParentEndedError:
            return ""

    with ThreadPoolExecutor(4) as pool:
        for _ in range(10):
            parent = made(store).id
            adding = [pool.submit(add, parent) for _ in range(3)]
            pool.submit(store.revoke_token, parent, NOW + TICK).result()
            children = [one.result() for one in adding]
            assert all(store.get_token(child).revoked for child in children if child)
