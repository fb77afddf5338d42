"""Share links in the registry, on both databases: their moments, their end, and their secrecy."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from auth.identity import Role, create_token
from auth.links import (
    Active,
    Expired,
    Revoked,
    RunTarget,
    SessionTarget,
    ShareLink,
    Unknown,
    ViewState,
    count_open,
    create_link,
    resolve,
)
from auth.tokens import hash_token, new_link_token
from server.registry import deleting, runs, sessions
from server.registry.database import Database
from server.registry.errors import RegistryError
from server.registry.links import SqlLinkStore
from server.registry.metadata import METADATA
from server.registry.pages import PageRequest
from server.registry.tokens import SqlTokenStore

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
TICK = timedelta(microseconds=1)
DAY = timedelta(days=1)


@pytest.fixture
def store(database: Database) -> SqlLinkStore:
    """Links of a registry with one session `s` in a run `r`."""
    make_session(database)
    return SqlLinkStore(database)


def make_session(database: Database) -> None:
    runs.create_run(database, "r", runs.RunChanges(), creator="me", now=NOW)
    new = sessions.NewSession("s", ("/profiles/s",), "s")
    sessions.create_session(database, "r", new, creator="me", now=NOW)


def share(
    database: Database, store: SqlLinkStore, expires: datetime | None = NOW + DAY
) -> tuple[ShareLink, str]:
    uid = sessions.get_session(database, "r", "s").uid
    target = SessionTarget("r", "s", uid)
    return create_link(store, target=target, creator="me", now=NOW, expires=expires)


def test_a_link_opens_its_session_until_its_last_moment(
    database: Database, store: SqlLinkStore
) -> None:
    link, token = share(database, store)
    assert resolve(store, token, NOW) == Active(link)
    uid = sessions.get_session(database, "r", "s").uid
    assert (link.target, link.creator) == (SessionTarget("r", "s", uid), "me")
    assert (link.opens, link.view) == (0, {})
    assert resolve(store, token, NOW + DAY - TICK) == Active(link)
    assert resolve(store, token, NOW + DAY) == Expired()
    assert resolve(store, token, NOW + DAY + TICK) == Expired()


def test_a_link_may_live_for_ever(database: Database, store: SqlLinkStore) -> None:
    link, token = share(database, store, expires=None)
    assert resolve(store, token, datetime(9999, 12, 31, tzinfo=UTC)) == Active(link)


def test_a_link_can_not_be_made_expired(database: Database, store: SqlLinkStore) -> None:
    with pytest.raises(ValueError, match="past"):
        share(database, store, expires=NOW)


def test_a_revoked_link_opens_nothing(database: Database, store: SqlLinkStore) -> None:
    link, token = share(database, store)
    assert store.revoke_link(link.id, NOW).revoked == NOW
    assert store.revoke_link(link.id, NOW + TICK).revoked == NOW
    assert resolve(store, token, NOW) == Revoked()
    assert resolve(store, token, NOW + DAY) == Revoked()


def test_other_tokens_are_unknown(database: Database, store: SqlLinkStore) -> None:
    link, token = share(database, store)
    digest = hash_token(token)
    for text_ in ("", new_link_token(), token[:-1], f"{token}A", token.swapcase(), digest, link.id):
        assert resolve(store, text_, NOW) == Unknown()


@pytest.mark.parametrize("ending", ["run", "session"])
def test_a_link_ends_with_its_session_and_never_opens_the_next(
    database: Database, store: SqlLinkStore, ending: str
) -> None:
    link, token = share(database, store)
    if ending == "run":
        deleting.delete_run(database, "r", etag=None, now=NOW)
        make_session(database)
    else:
        deleting.delete_session(database, "r", "s", etag=None, now=NOW)
        new = sessions.NewSession("s", ("/profiles/other",), "s")
        sessions.create_session(database, "r", new, creator="me", now=NOW)
    assert resolve(store, token, NOW) == Revoked()
    assert store.get_link(link.id).revoked == NOW


def test_a_link_that_lost_its_session_without_being_revoked_opens_nothing(
    database: Database, store: SqlLinkStore
) -> None:
    _, token = share(database, store)
    with database.writing() as session:
        session.execute(text("DELETE FROM sessions"))
    assert resolve(store, token, NOW) == Revoked()


def test_no_link_is_made_to_a_session_that_is_gone(database: Database, store: SqlLinkStore) -> None:
    uid = sessions.get_session(database, "r", "s").uid
    deleting.delete_session(database, "r", "s", etag=None, now=NOW)
    with pytest.raises(LookupError):
        create_link(store, target=SessionTarget("r", "s", uid), creator="me", now=NOW, expires=None)


def test_every_open_is_counted(database: Database, store: SqlLinkStore) -> None:
    link, _ = share(database, store)

    def open_often() -> None:
        for _ in range(25):
            count_open(store, link, NOW)

    threads = [threading.Thread(target=open_often) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.get_link(link.id).opens == 100


def test_links_are_listed_newest_first_of_all_or_one_session(
    database: Database, store: SqlLinkStore
) -> None:
    made = [share(database, store)[0].id for _ in range(5)]
    first = store.list_links(PageRequest(3))
    second = store.list_links(PageRequest(3, after=first.next))
    assert [link.id for link in first.records + second.records] == made[::-1]
    assert second.next is None
    uid = sessions.get_session(database, "r", "s").uid
    assert len(store.list_links(PageRequest(10), session_uid=uid).records) == 5
    assert store.list_links(PageRequest(10), session_uid="another").records == ()
    with pytest.raises(RegistryError):
        store.get_link("unknown")


def test_the_database_never_holds_a_token(
    database: Database, store: SqlLinkStore, registry_url: str, tmp_path: Path
) -> None:
    _, link_token = share(database, store)
    _, api_token = create_token(
        SqlTokenStore(database), name="n", role=Role.ADMIN, creator="me", now=NOW, expires=None
    )
    engine = create_engine(registry_url)
    with engine.connect() as connection:
        rows = [
            str(row)
            for table in METADATA.sorted_tables
            for row in connection.execute(table.select())
        ]
    engine.dispose()
    stored = "\n".join(rows).encode()
    # SQLite's own files too: what was once written stays in the log and in free pages.
    files = list(tmp_path.glob("registry.sqlite*"))
    stored += b"".join(path.read_bytes() for path in files)
    for token in (link_token, api_token):
        assert hash_token(token).encode() in stored
        assert token.encode() not in stored
        assert token[4:].encode() not in stored


def share_run(database: Database, store: SqlLinkStore) -> tuple[ShareLink, str]:
    target = RunTarget("r", runs.get_run(database, "r").uid)
    return create_link(store, target=target, creator="me", now=NOW, expires=None)


def test_a_link_to_a_run_keeps_its_target_and_view(database: Database, store: SqlLinkStore) -> None:
    target = RunTarget("r", runs.get_run(database, "r").uid)
    view: ViewState = {"tool": "t", "hosts": ["a,b", "ü"], "startMs": 0.1}
    link, token = create_link(store, target=target, creator="me", now=NOW, expires=None, view=view)
    assert resolve(store, token, NOW) == Active(link)
    stored = store.get_link(link.id)
    assert (stored.target, stored.view) == (target, view)


def test_a_link_to_a_run_outlives_its_sessions_but_not_the_run(
    database: Database, store: SqlLinkStore
) -> None:
    link, token = share_run(database, store)
    deleting.delete_session(database, "r", "s", etag=None, now=NOW)
    assert resolve(store, token, NOW) == Active(link)
    deleting.delete_run(database, "r", etag=None, now=NOW + TICK)
    make_session(database)
    assert resolve(store, token, NOW) == Revoked()
    assert store.get_link(link.id).revoked == NOW + TICK


def test_a_link_that_lost_its_run_without_being_revoked_opens_nothing(
    database: Database, store: SqlLinkStore
) -> None:
    _, token = share_run(database, store)
    with database.writing() as session:
        session.execute(text("DELETE FROM runs"))
    make_session(database)
    assert resolve(store, token, NOW) == Revoked()


def test_no_link_is_made_to_a_run_that_is_gone(database: Database, store: SqlLinkStore) -> None:
    target = RunTarget("r", runs.get_run(database, "r").uid)
    deleting.delete_run(database, "r", etag=None, now=NOW)
    make_session(database)
    with pytest.raises(LookupError):
        create_link(store, target=target, creator="me", now=NOW, expires=None)


def test_links_to_a_run_and_to_its_sessions_are_listed_apart(
    database: Database, store: SqlLinkStore
) -> None:
    to_session, _ = share(database, store)
    to_run, _ = share_run(database, store)
    uids = runs.get_run(database, "r").uid, sessions.get_session(database, "r", "s").uid
    everything = PageRequest(10)
    assert store.list_links(everything, run_uid=uids[0]).records == (to_run,)
    assert store.list_links(everything, session_uid=uids[1]).records == (to_session,)
    assert store.list_links(everything).records == (to_run, to_session)


def test_the_newest_session_is_the_one_attached_last(
    database: Database, store: SqlLinkStore
) -> None:
    run_uid = runs.get_run(database, "r").uid
    new = sessions.NewSession("a", ("/profiles/a",), "a")
    sessions.create_session(database, "r", new, creator="me", now=NOW + TICK)
    found = sessions.find_session_of_run(database, run_uid)
    assert found is not None
    assert found.id == "a"
    named = sessions.find_session_of_run(database, run_uid, "s")
    assert named == sessions.get_session(database, "r", "s")
    assert sessions.find_session_of_run(database, "another", "s") is None
    assert sessions.find_session_of_run(database, run_uid, "S") is None
    assert [one.id for one in sessions.newest_sessions(database, run_uid, 1)] == ["a"]
