"""What signed-in people see of runs and sessions: the same XProf as under a link, and pages of words."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import pytest

from server.registry.database import Database
from server.registry.records import SessionKind, SessionState
from server.registry.runs import add_warning
from server.registry.sessions import NewSession, create_session
from tests.contract.api_calls import (
    attach,
    authorize,
    create_run,
    new_session,
    run_path,
    session_path,
    write_profile,
)
from tests.contract.browsing import DATA, PAGE, XPROF, browser, location, signed_in
from tests.services.api import Api, api_settings, serve_api

ATTACK = "\"'><img src=x onerror=alert(1)>{{ 7 * 7 }}"


def page_data(answer: httpx2.Response) -> dict[str, Any]:
    assert answer.status_code == 200, answer.text
    (block,) = re.findall(r'id="xh-page">(.*?)</script>', answer.text, re.S)
    found: dict[str, Any] = json.loads(block)
    return found


def test_a_session_opens_at_its_dashboard_address(guarded_api: Api) -> None:
    authorize(guarded_api)
    path = new_session(guarded_api, "my run", "s 1%")
    uri = guarded_api.http.get(path).json()["dashboardUri"]
    short = f"/runs/my%20run/sessions/{quote('s 1%', safe='')}"
    assert uri == f"{guarded_api.url}{short}{XPROF}/"
    with signed_in(guarded_api) as client:
        for page in (short, f"{short}/"):
            assert f'href="{short}{XPROF}/"' in client.get(page).text
        assert location(client.get(f"{short}{XPROF}")) == f"{short}{XPROF}/"
        # As people copied it before a session had a page of its own.
        there = location(client.get(f"{short}?tag=hlo_stats&host=a%2Fb"))
        assert there == f"{short}{XPROF}/?tag=hlo_stats&host=a%2Fb"
        opened = client.get(there).text
        assert f'<base href="{short}{XPROF}/">' in opened
        assert client.get(f"{short}{XPROF}/runs").json() == ["s 1%"]


def test_all_answers_are_those_of_a_link(guarded_api: Api) -> None:
    """The same bytes under the same ETags: nothing is converted or kept twice."""
    authorize(guarded_api)
    session = new_session(guarded_api)
    link = guarded_api.http.post(f"{session}/shareLinks", json={}).json()["token"]
    with signed_in(guarded_api) as client:
        for rest in (
            "runs",
            "config",
            "version",
            "hosts?tag=hlo_stats",
            "status",
            "data?tag=no_such",
            "bundle.js",
            "trace_viewer_index.html",
            "data?tag=graph_viewer&type=graph",
        ):
            answers = [
                client.get(f"{place}{XPROF}/{rest}", headers=DATA)
                for place in (f"/s/{link}", "/runs/r/sessions/s")
            ]
            assert answers[0].status_code == answers[1].status_code
            assert answers[0].content == answers[1].content
            for name in ("etag", "content-type", "cache-control", "content-security-policy"):
                assert answers[0].headers.get(name) == answers[1].headers.get(name), (rest, name)


def test_the_page_offers_the_other_sessions_of_the_run(guarded_api: Api) -> None:
    authorize(guarded_api)
    new_session(guarded_api, "r", "first")
    attach(guarded_api, "r", write_profile(guarded_api, "second", log_directory="others"))
    with signed_in(guarded_api) as client:
        data = page_data(client.get(f"/runs/r/sessions/first{XPROF}/"))
    assert [entry["href"] for entry in data["sessions"]] == [
        f"/runs/r/sessions/{name}{XPROF}/" for name in ("second", "first")
    ]
    assert (data["expires"], data["sharedBy"], data["note"]) == (None, "", "")


def test_nothing_that_a_browser_sends_names_another_session(guarded_api: Api) -> None:
    authorize(guarded_api)
    new_session(guarded_api, "r", "s")
    new_session(guarded_api, "other", "theirs")
    with signed_in(guarded_api) as client:
        there = f"/runs/r/sessions/s{XPROF}/runs"
        assert client.get(f"{there}?run=theirs&session=theirs").json() == ["s"]
        for path in (
            "/runs/r/sessions/theirs",
            "/runs/other/sessions/s",
            "/runs/r/sessions/%2e%2e",
            "/runs/r/sessions/S",
            "/runs/R/sessions/s",
            "/runs/r/sessions/s%00",
            "/runs/r%00/sessions/s",
            "/runs/r%00",
            f"/runs/{'x' * 300}",
        ):
            answer = client.get(path)
            assert answer.status_code == 404, path
            assert "There is nothing at this address" in answer.text


def test_a_revoked_token_ends_it_at_the_next_request(guarded_api: Api) -> None:
    authorize(guarded_api)
    new_session(guarded_api)
    with signed_in(guarded_api) as client:
        there = f"/runs/r/sessions/s{XPROF}/"
        whole = client.get(there)
        assert whole.status_code == 200
        tokens = guarded_api.http.get("/apiTokens").json()["apiTokens"]
        (viewer,) = [token for token in tokens if token["role"] == "viewer"]
        guarded_api.http.delete(f"/{viewer['name']}")
        # Not even "not modified" is said.
        answer = client.get(there, headers={"If-None-Match": whole.headers["etag"]})
        assert location(answer) == f"/signin?next=/runs/r/sessions/s{quote(XPROF)}/"
        data = client.get(f"{there}runs", headers=DATA)
        assert data.status_code == 401
        assert "Reload this page" in data.json()["error"]["message"]


@pytest.mark.parametrize("by_link", [False, True])
def test_a_session_whose_files_are_to_come_says_so(guarded_api: Api, by_link: bool) -> None:
    authorize(guarded_api)
    create_run(guarded_api, "r")
    folder = Path(guarded_api.settings.storage_roots[0]) / "later"
    for name, state in (("open", SessionState.OPEN), ("closed", SessionState.COMPLETE)):
        create_session(
            Database(guarded_api.settings.resolved_database_url),
            "r",
            NewSession(
                name, (str(folder / name),), name, kind=SessionKind.PROGRAMMATIC, state=state
            ),
            creator="job",
            now=datetime.now(UTC),
        )
    with signed_in(guarded_api) as client:
        texts = {}
        for name in ("open", "closed"):
            place = f"/runs/r/sessions/{name}"
            if by_link:
                path = f"{session_path('r', name)}/shareLinks"
                place = f"/s/{guarded_api.http.post(path, json={}).json()['token']}"
            answer = client.get(f"{place}{XPROF}/")
            assert answer.status_code == 404
            texts[name] = answer.text
    assert "The job has registered this session; its files are not there yet." in texts["open"]
    assert "not there yet" not in texts["closed"]


def test_runs_and_sessions_are_listed_newest_first(guarded_api: Api) -> None:
    authorize(guarded_api)
    with signed_in(guarded_api) as client:
        assert "No run yet" in client.get("/runs").text
        create_run(guarded_api, "a b", displayName="First run")
        create_run(guarded_api, "second")
        empty = client.get("/runs/second").text
        assert "No session yet" in empty
        assert "xprof-hub sessions attach second gs://" in empty
        for session in ("one", "two"):
            attach(guarded_api, "a b", write_profile(guarded_api, session, log_directory=session))
        runs = client.get("/runs").text
        assert re.findall(r'class="name" href="([^"]*)"', runs) == ["/runs/second", "/runs/a%20b"]
        assert "First run" in runs
        sessions = client.get("/runs/a%20b").text
        assert re.findall(r'class="name" href="([^"]*)"', sessions) == [
            "/runs/a%20b/sessions/two",
            "/runs/a%20b/sessions/one",
        ]


def test_long_lists_have_pages(guarded_api: Api) -> None:
    authorize(guarded_api)
    for number in range(51):
        create_run(guarded_api, f"r{number}")
    with signed_in(guarded_api) as client:
        first = client.get("/runs").text
        found = re.findall(r'href="(/runs/r\d+)"', first)
        (more,) = re.findall(r'rel="next" href="(/runs\?[^"]*)"', first)
        found += re.findall(r'href="(/runs/r\d+)"', client.get(more).text)
        assert found == [f"/runs/r{number}" for number in reversed(range(51))]
        assert client.get("/runs/r1?pageToken=nonsense").status_code == 400


def test_names_are_texts(guarded_api: Api) -> None:
    authorize(guarded_api)
    create_run(guarded_api, "r", displayName=ATTACK)
    folder = write_profile(guarded_api, "s")
    attach(guarded_api, "r", folder, displayName=ATTACK)
    database = Database(guarded_api.settings.resolved_database_url)
    add_warning(database, "r", ATTACK, now=datetime.now(UTC))
    with signed_in(guarded_api) as client:
        for path in ("/runs", "/runs/r"):
            text = client.get(path).text
            assert "<img" not in text
            assert "{{ 7 * 7 }}" in text


def test_deleting_takes_the_pages_away(guarded_api: Api) -> None:
    authorize(guarded_api)
    path = new_session(guarded_api)
    with signed_in(guarded_api) as client:
        guarded_api.http.delete(path)
        assert client.get(f"/runs/r/sessions/s{XPROF}/runs").status_code == 404
        guarded_api.http.delete(run_path("r"))
        assert client.get("/runs/r").status_code == 404


def test_on_a_developers_machine_everybody_opens_everything(api: Api) -> None:
    new_session(api)
    with browser(api) as client:
        assert client.get("/runs/r").status_code == 200
        assert client.get(f"/runs/r/sessions/s{XPROF}/runs").json() == ["s"]
        foreign = {"Host": "evil.example"}
        assert client.get(f"/runs/r/sessions/s{XPROF}/runs", headers=foreign).status_code == 403


def test_everything_lies_below_the_prefix(tmp_path: Path) -> None:
    settings = api_settings(tmp_path, auth="token", path_prefix="/team/x")
    with serve_api(settings) as api:
        authorize(api)
        new_session(api)
        with browser(api) as stranger:
            assert location(stranger.get("/team/x/runs/r?a=1")) == (
                f"/team/x/signin?next={quote('/team/x/runs/r?a=1')}"
            )
        with signed_in(api) as client:
            assert 'href="/team/x/runs/r"' in client.get("/team/x/runs").text
            assert 'action="/team/x/signout"' in client.get("/team/x/runs").text
            page = client.get("/team/x/runs/r/sessions/s").text
            assert f'href="/team/x/runs/r/sessions/s{XPROF}/"' in page
            there = location(client.get("/team/x/runs/r/sessions/s?tag=hlo_stats"))
            assert there == f"/team/x/runs/r/sessions/s{XPROF}/?tag=hlo_stats"
            there = location(client.get(f"/team/x/runs/r/sessions/s{XPROF}"))
            assert there == f"/team/x/runs/r/sessions/s{XPROF}/"
            assert client.get(there).status_code == 200
            assert httpx2.get(f"{api.url}/runs", headers=PAGE).status_code == 302
