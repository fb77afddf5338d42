"""Run groups for people: the page with its form, and the commands."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import httpx2
import pytest

from server.registry.database import Database
from server.registry.sessions import NewSession, create_session
from server.registry.summaries import HostSize, SessionSummary, keep_summary
from tests.contract.api_calls import create_run
from tests.contract.commands import Commands
from tests.services.api import Api, ApiServers

NAME = "team & <co>"


@pytest.fixture
def api(api_servers: ApiServers) -> Api:
    """A development server with a run of 1.5 GB in a group whose name has to be escaped."""
    api = api_servers.get("sqlite", "dev")
    create_run(api, "small", runSet="z")
    create_run(api, "r", runSet=NAME)
    database, now, size = (
        Database(api.settings.resolved_database_url),
        datetime.now(UTC),
        1_500_000_000,
    )
    # Not through the API, which would have its files looked at.
    new = NewSession("s", ("/nowhere/s",), "s")
    made = create_session(database, "r", new, creator="me", now=now)
    assert keep_summary(
        database, made.uid, SessionSummary("d", (HostSize("vm", size),), size, None, now)
    )
    database.close()
    return api


def test_the_page_shows_what_groups_store_and_takes_how_long_they_are_kept(api: Api) -> None:
    page = httpx2.get(f"{api.url}/groups")
    assert page.status_code == 200
    assert "team &amp; &lt;co&gt;" in page.text
    assert NAME not in page.text
    assert "1.5 GB" in page.text
    # The largest first, and the largest runs below.
    assert page.text.index("team &amp;") < page.text.index(">z<")
    assert re.search(r'href="[^"]*/runs/r"', page.text)
    assert "style=" not in page.text

    form = {"group": NAME, "days": "30", "note": "a <b>note</b>", "held": "on"}
    answer = httpx2.post(f"{api.url}/groups", data=form)
    assert (answer.status_code, answer.headers["location"]) == (303, "/groups")
    shown = httpx2.get(f"{api.url}/groups").text
    assert "30 days" in shown and "a &lt;b&gt;note" in shown and ">On hold<" in shown
    found = api.http.get("/runGroups").json()["runGroups"][0]
    assert (found["sessionDays"], found["held"], found["note"]) == (30, True, "a <b>note</b>")

    httpx2.post(f"{api.url}/groups", data={"group": NAME, "days": "", "note": ""})
    found = api.http.get("/runGroups").json()["runGroups"][0]
    assert {"sessionDays", "held"}.isdisjoint(found)


@pytest.mark.parametrize(
    ("form", "says"),
    [
        ({"group": NAME, "days": "0"}, "whole number"),
        ({"group": NAME, "days": "1e3"}, "whole number"),
        ({"group": NAME, "days": "99999"}, "whole number"),
        ({"group": NAME, "note": "x" * 4001}, "at most 4000"),
        ({"group": "nobody's", "days": "3"}, "no run group"),
        ({}, "1 to 500 characters"),
    ],
)
def test_a_form_that_can_not_be_taken_says_why_and_changes_nothing(
    api: Api, form: dict[str, str], says: str
) -> None:
    answer = httpx2.post(f"{api.url}/groups", data=form)
    assert answer.status_code == 400
    assert says in answer.text
    found = api.http.get("/runGroups").json()["runGroups"]
    assert all({"sessionDays", "updater"}.isdisjoint(one) or not one["updater"] for one in found)


def test_a_page_of_another_site_changes_no_group(api: Api) -> None:
    headers = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
    answer = httpx2.post(f"{api.url}/groups", data={"group": NAME, "days": "1"}, headers=headers)
    assert answer.status_code == 403
    assert "sessionDays" not in api.http.get("/runGroups").json()["runGroups"][0]


def test_commands_show_and_change_groups(api: Api) -> None:
    hub = Commands(api.url)
    lines = hub.lines("groups", "list")
    assert lines[0].split()[:2] == ["GROUP", "RUNS"]
    assert re.split(r"\s{2,}", lines[1])[:5] == [NAME, "1", "1", "1.5 GB", "without end"]
    assert hub.said("groups", "update", "z", "--days", "90", "--hold") == (
        "Sessions of group z are kept 90 days (held).\n"
    )
    shown = "\n".join(hub.lines("groups", "show", "z"))
    assert "90 days (held)" in shown
    assert hub.said("groups", "update", "z", "--days", "0", "--no-hold") == (
        "Sessions of group z are kept without end.\n"
    )
    hub.complaint("groups", "update", "z", status=2)
    hub.complaint("groups", "show", "nobody's", status=3)


def test_commands_bring_back_what_they_deleted(api: Api) -> None:
    hub = Commands(api.url)
    hub.said("sessions", "delete", "r/s", "--yes")
    [line] = hub.lines("sessions", "list", "r", "--deleted")[1:]
    assert "deleted" in line
    assert "is back" in hub.said("sessions", "undelete", "r/s")
    hub.said("runs", "delete", "r", "--yes")
    assert len(hub.lines("runs", "list")) == 2
    assert len(hub.lines("runs", "list", "--deleted")) == 3
    assert "1 session" in hub.said("runs", "undelete", "r")
    hub.complaint("runs", "undelete", "r", status=3)
    hub.said("sessions", "update", "r/s", "--set", "ttl=30d")
    assert any(line.startswith("Deleted on") for line in hub.lines("sessions", "show", "r/s"))
    hub.said("sessions", "update", "r/s", "--set", "pinned=true")
    assert any(line.split() == ["Kept", "pinned"] for line in hub.lines("sessions", "show", "r/s"))
