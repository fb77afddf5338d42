"""What a token opens, as one question finds it: the same as the registry's own ways, on both databases."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from auth.links import LinkAccess, LinkTarget, RunTarget, SessionTarget, create_link
from auth.sharing_rules import SharingRules
from auth.tokens import hash_token
from server.registry import deleting, links, runs, sessions
from server.registry.database import Database
from server.registry.opened_links import OpenedLinks
from server.registry.records import ProfilerSession
from server.registry.rules import change_sharing_rules

NOW = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)


def _make_session(database: Database) -> ProfilerSession:
    runs.create_run(database, "llama", runs.RunChanges(), creator="me", now=NOW)
    new = sessions.NewSession("s1", ("/profiles/s1", "/profiles/more"), "First", expected_hosts=4)
    return sessions.create_session(database, "llama", new, creator="me", now=NOW)


def _share(database: Database, target: LinkTarget) -> str:
    """The digest of a new link with something in every column."""
    _, token = create_link(
        links.SqlLinkStore(database),
        target=target,
        creator="me",
        now=NOW,
        expires=NOW + timedelta(days=3),
        note="a note",
        view={"tool": "trace_viewer@", "hosts": ["a", "b"], "start": 1.5},
        access=LinkAccess.ORG,
        password_hash="$scrypt$",
        most_opens=7,
        is_redacted=True,
    )
    return hash_token(token)


def test_link_and_session_are_those_that_the_registry_finds_one_by_one(database: Database) -> None:
    made = _make_session(database)
    digest = _share(database, SessionTarget("llama", "s1", made.uid))

    store = OpenedLinks(database)

    assert store.find_link(digest) == links.SqlLinkStore(database).find_link(digest)
    assert store.session == made == sessions.find_session_by_uid(database, made.uid)


def test_the_sharing_rules_are_those_of_this_moment(sqlite_database: Database) -> None:
    made = _make_session(sqlite_database)
    digest = _share(sqlite_database, SessionTarget("llama", "s1", made.uid))
    store = OpenedLinks(sqlite_database)
    before = store.find_link(digest)

    def forbid(rules: SharingRules) -> SharingRules:
        return replace(rules, allow_unlisted=False)

    change_sharing_rules(sqlite_database, forbid, updater="me", etag=None, now=NOW)

    after = store.find_link(digest)
    assert before is not None and after is not None
    assert (before.rules.allow_unlisted, after.rules.allow_unlisted) == (True, False)


def test_a_link_to_a_run_names_no_session(sqlite_database: Database) -> None:
    _make_session(sqlite_database)
    run = runs.get_run(sqlite_database, "llama")
    digest = _share(sqlite_database, RunTarget("llama", run.uid))
    store = OpenedLinks(sqlite_database)

    found = store.find_link(digest)

    assert found is not None and found.link.target == RunTarget("llama", run.uid)
    assert store.session is None


def test_a_token_that_nobody_has_finds_nothing_and_forgets_what_was_found(
    sqlite_database: Database,
) -> None:
    made = _make_session(sqlite_database)
    digest = _share(sqlite_database, SessionTarget("llama", "s1", made.uid))
    store = OpenedLinks(sqlite_database)
    store.find_link(digest)
    assert store.session is not None

    assert store.find_link(hash_token("xph_unknown")) is None
    assert store.session is None


def test_a_deleted_run_takes_its_session_from_the_link(database: Database) -> None:
    made = _make_session(database)
    digest = _share(database, SessionTarget("llama", "s1", made.uid))
    deleting.delete_run(database, "llama", etag=None, now=NOW)
    store = OpenedLinks(database)

    found = store.find_link(digest)

    assert found is not None and store.session is None
