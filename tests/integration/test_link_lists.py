"""Links for those who manage them, on both databases: found by all that can be asked for, and in pages."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from sqlalchemy import delete

from auth.links import LinkAccess, RunTarget, SessionTarget, ShareLink
from server.registry import runs, sessions
from server.registry.database import Database
from server.registry.link_lists import LinkSearch, get_listed_link, search_links
from server.registry.links import SqlLinkStore
from server.registry.models import RunRow
from server.registry.pages import PageRequest

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def fill(database: Database) -> tuple[str, str]:
    """Links of each kind to a session and to its run, whose identities are returned."""
    run = runs.create_run(database, "llama", runs.RunChanges(), creator="me", now=NOW).uid
    new = sessions.NewSession("s", ("/profiles/s",), "s")
    session = sessions.create_session(database, "llama", new, creator="me", now=NOW).uid
    store = SqlLinkStore(database)
    plain = ShareLink(
        id="plain",
        target=SessionTarget("llama", "s", session),
        created=NOW - 3 * DAY,
        expires=NOW + DAY,
        revoked=None,
        opens=0,
        note="for review 100%",
        creator="ann",
        access=LinkAccess.UNLISTED,
    )
    for number, link in enumerate(
        (
            plain,
            replace(plain, id="run", target=RunTarget("llama", run), creator="bob", note=""),
            replace(plain, id="endless", expires=None, created=NOW - 20 * DAY),
            replace(plain, id="over", expires=NOW),
            replace(plain, id="used", opens=3, most_opens=3),
            replace(plain, id="counted", opens=2, most_opens=3),
            replace(plain, id="gone"),
        )
    ):
        later = link.created + timedelta(seconds=number)
        store.add_link(replace(link, created=later), f"digest {number}")
    store.revoke_link("gone", NOW)
    store.count_open("plain", NOW - DAY)
    return session, run


def found(database: Database, **asked: object) -> set[str]:
    """Ids of the links that a search finds."""
    search = replace(LinkSearch(NOW), **asked)  # type: ignore[arg-type]
    page = search_links(database, search, PageRequest(100))
    return {listed.link.id for listed in page.records}


def test_links_are_found_by_all_that_can_be_asked_for(database: Database) -> None:
    session, run = fill(database)
    working, ended = {"plain", "run", "endless", "counted"}, {"over", "used", "gone"}
    assert found(database) == working | ended
    assert found(database, is_active=True) == working
    assert found(database, is_active=False) == ended
    assert found(database, is_active=True, longest=7 * DAY) == working - {"endless"}
    assert found(database, is_active=False, longest=7 * DAY) == ended | {"endless"}
    assert found(database, creator="bob") == {"run"}
    assert found(database, run_uid=run) == {"run"}
    assert found(database, session_uid=session) == (working | ended) - {"run"}
    assert found(database, text="review 100%") == (working | ended) - {"run"}
    assert found(database, text="llam") == working | ended
    assert found(database, text="llam*") == set()
    assert found(database, text="LLAMA") == set()
    assert found(database, text="s", is_active=True, creator="ann") == working - {"run"}


def test_a_link_is_listed_with_its_last_opening_and_lists_have_pages(database: Database) -> None:
    fill(database)
    plain = get_listed_link(database, "plain")
    assert plain is not None
    assert (plain.link.opens, plain.opened) == (1, NOW - DAY)
    assert get_listed_link(database, "nothing") is None
    first = search_links(database, LinkSearch(NOW), PageRequest(4))
    rest = search_links(database, LinkSearch(NOW), PageRequest(4, after=first.next))
    ids = [listed.link.id for listed in (*first.records, *rest.records)]
    assert ids == ["gone", "counted", "used", "over", "run", "plain", "endless"]
    assert rest.next is None


def test_of_a_deleted_target_nothing_works(database: Database) -> None:
    fill(database)
    with database.writing() as session:
        session.execute(delete(RunRow))
    assert found(database, is_active=True) == set()
    assert len(found(database, is_active=False)) == 7
