"""Links to a whole run: what they open, and what stays shut."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import quote

import httpx2
import pytest

from tests.contract.api_calls import (
    attach,
    create_run,
    error_of,
    fields_of,
    new_session,
    run_path,
    session_path,
    write_profile,
)
from tests.services.api import Api

XPROF = "/data/plugin/profile"
UNKNOWN = "/s/xph_nobodyknowsthistoken" + XPROF + "/runs"
TRACE = {"tool": "trace_viewer@", "hosts": ["vm"], "startMs": 1.5, "endMs": 2}
TRACE_QUERY = "tag=trace_viewer%40&hosts=vm&view_start=1.5&view_end=2"


def add_session(api: Api, run: str, session: str, **body: object) -> None:
    folder = write_profile(api, session, log_directory=f"logs of {run}")
    assert attach(api, run, folder, **body).status_code == 200


def share_run(api: Api, run: str = "r", **body: object) -> dict[str, Any]:
    answer = api.http.post(f"{run_path(run)}/shareLinks", json=body)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def get(api: Api, path: str) -> httpx2.Response:
    return httpx2.get(f"{api.url}{path}", follow_redirects=False)


def under(link: dict[str, Any], session: str, rest: str = "/runs") -> str:
    return f"/s/{link['token']}/sessions/{quote(session, safe='')}{XPROF}{rest}"


def location(api: Api, path: str) -> str:
    answer = get(api, path)
    assert answer.status_code == 302, answer.text
    return str(answer.headers["location"])


def page_of(api: Api, path: str) -> dict[str, Any]:
    answer = get(api, path)
    assert answer.status_code == 200, answer.text
    (block,) = re.findall(r'id="xh-page">(.*?)</script>', answer.text, re.S)
    found: dict[str, Any] = json.loads(block)
    return found


def test_a_link_to_a_run_is_told_once_and_listed_with_the_run(api: Api) -> None:
    session = new_session(api)
    to_session = api.http.post(f"{session}/shareLinks", json={}).json()
    link = share_run(api, note="all of it")
    assert (link["run"], link["session"]) == ("machineLearningRuns/r", "")
    assert (to_session["run"], to_session["session"][-1]) == ("", "s")
    listed = api.http.get(f"{run_path('r')}/shareLinks").json()["shareLinks"]
    assert [entry["uid"] for entry in listed] == [link["uid"]]
    listed = api.http.get(f"{session}/shareLinks").json()["shareLinks"]
    assert [entry["uid"] for entry in listed] == [to_session["uid"]]
    shown = api.http.get(f"/{link['name']}")
    assert (shown.json()["run"], shown.json()["note"]) == ("machineLearningRuns/r", "all of it")
    assert link["token"][4:] not in shown.text
    missing = api.http.post(f"{run_path('no')}/shareLinks", json={})
    assert error_of(missing) == (404, "NOT_FOUND")


def test_it_opens_every_session_of_its_run_and_leads_to_the_newest(api: Api) -> None:
    new_session(api, "r", "first")
    link = share_run(api)
    assert location(api, f"/s/{link['token']}") == f"{under(link, 'first', '/')}"
    add_session(api, "r", "second")
    for short in ("", "/", "/sessions", "/sessions/", XPROF):
        assert location(api, f"/s/{link['token']}{short}") == under(link, "second", "/")
    for short in ("", "/", XPROF):
        path = f"/s/{link['token']}/sessions/first{short}"
        assert location(api, path) == under(link, "first", "/")
    for session in ("first", "second"):
        assert get(api, under(link, session)).json() == [session]
        assert [
            host["hostname"]
            for host in get(api, under(link, session, "/hosts?tag=hlo_stats")).json()
        ] == ["vm"]


def test_everything_else_is_like_an_unknown_link(api: Api) -> None:
    new_session(api, "r", "s")
    new_session(api, "other", "theirs")
    link = share_run(api)
    to_session = api.http.post(f"{session_path('r', 's')}/shareLinks", json={}).json()
    unknown = get(api, UNKNOWN)
    assert unknown.status_code == 404
    token = link["token"]
    shut = [
        under(link, "theirs"),
        under(link, "never"),
        under(link, ".."),
        under(link, "%2e%2e"),
        under(link, "s\n"),
        under(link, "s\0"),
        under(link, "x" * 300),
        under(link, "S"),
        under(link, "theirs", "/"),
        under(link, "theirs", "/data?tag=hlo_stats"),
        under(link, "theirs", "/progress?tag=hlo_stats"),
        under(link, "theirs", "/status"),
        f"/s/{token}/sessions/theirs",
        f"/s/{token}{XPROF}/runs",
        f"/s/{token}{XPROF}/data?tag=hlo_stats&run=s",
        f"/s/{token}{XPROF}/status",
        f"/s/{token}{XPROF}/runs?session=s",
        f"/s/{to_session['token']}/sessions/s",
        under(to_session, "s"),
        under(to_session, "s", "/data?tag=hlo_stats"),
        under(to_session, "theirs"),
    ]
    for path in shut:
        answer = get(api, path)
        assert (answer.status_code, answer.text) == (404, unknown.text), path
    assert get(api, f"/s/{to_session['token']}{XPROF}/runs").json() == ["s"]


def test_a_deleted_session_takes_only_itself(api: Api) -> None:
    new_session(api, "r", "first")
    add_session(api, "r", "second")
    link = share_run(api)
    to_session = api.http.post(f"{session_path('r', 'second')}/shareLinks", json={}).json()
    api.http.delete(session_path("r", "second"))
    assert get(api, under(link, "second")).status_code == 404
    assert get(api, f"/s/{to_session['token']}{XPROF}/runs").status_code == 410
    assert get(api, under(link, "first")).json() == ["first"]
    assert location(api, f"/s/{link['token']}") == under(link, "first", "/")
    assert api.http.get(f"/{link['name']}").json()["state"] == "ACTIVE"


def test_it_ends_with_its_run_and_never_opens_the_next(api: Api) -> None:
    session = new_session(api)
    link = share_run(api)
    assert session == session_path("r", "s")
    api.http.delete(run_path("r"))
    create_run(api, "r")
    add_session(api, "r", "later")
    for path in (f"/s/{link['token']}", under(link, "later"), under(link, "s")):
        assert get(api, path).status_code == 410
    assert api.http.get(f"/{link['name']}").json()["state"] == "REVOKED"
    assert api.http.get(f"{run_path('r')}/shareLinks").json()["shareLinks"] == []


def test_revoking_it_shuts_every_session(api: Api) -> None:
    new_session(api)
    link = share_run(api)
    assert get(api, under(link, "s")).status_code == 200
    api.http.delete(f"/{link['name']}")
    assert get(api, under(link, "s")).status_code == 410
    assert get(api, f"/s/{link['token']}").status_code == 410


def test_a_run_without_a_session_says_what_to_do(api: Api) -> None:
    assert create_run(api, "my <run>").status_code == 200
    link = share_run(api, "my <run>")
    answer = get(api, f"/s/{link['token']}")
    assert answer.status_code == 404
    assert "no session yet" in answer.text
    assert "xprof-hub sessions attach &#39;my &lt;run&gt;&#39; gs://" in answer.text


@pytest.mark.parametrize(
    "session", ["a b+c", "100%2F", "s?x#y", "日本 🚀", "a\\b", "<b>'\"", "..."]
)
def test_ids_are_ids_whatever_they_look_like(api: Api, session: str) -> None:
    create_run(api, "r")
    folder = write_profile(api, "plain")
    path = f"{run_path('r')}/profilerSessions"
    body = {"storageFolderUri": str(folder)}
    made = api.http.post(path, params={"profilerSessionId": session}, json=body)
    assert made.status_code == 200, made.text
    link = share_run(api)
    assert location(api, f"/s/{link['token']}") == under(link, session, "/")
    assert get(api, under(link, session)).json() == [session]
    page = page_of(api, under(link, session, "/"))
    (entry,) = page["sessions"]
    assert (entry["id"], entry["current"]) == (session, True)
    assert entry["href"] == under(link, session, "/")


def test_the_page_offers_the_runs_sessions_by_their_names(api: Api) -> None:
    assert create_run(api, "r", displayName="Llama").status_code == 200
    add_session(api, "r", "one", displayName="step 1")
    add_session(api, "r", "two")
    link = share_run(api, note="see step 1", never=True)
    page = page_of(api, under(link, "one", "/"))
    assert (page["run"], page["session"], page["hosts"]) == ("Llama", "step 1", 1)
    assert (page["note"], page["expires"], page["sharedBy"]) == ("see step 1", None, "")
    assert [(entry["name"], entry["current"]) for entry in page["sessions"]] == [
        ("two", False),
        ("step 1", True),
    ]
    assert not page["moreSessions"]
    api.http.patch(run_path("r"), json={"displayName": "Llama 2"})
    assert page_of(api, under(link, "one", "/"))["run"] == "Llama 2"
    to_session = api.http.post(f"{session_path('r', 'one')}/shareLinks", json={}).json()
    page = page_of(api, f"/s/{to_session['token']}{XPROF}/")
    assert page["sessions"] == []
    assert page["expires"] == to_session["expireTime"][:19] + "Z"


def test_long_runs_offer_their_newest_sessions(api: Api) -> None:
    create_run(api, "r")
    folder = write_profile(api, "plain")
    for number in range(51):
        path = f"{run_path('r')}/profilerSessions"
        body = {"storageFolderUri": str(folder)}
        api.http.post(path, params={"profilerSessionId": f"s{number}"}, json=body)
    link = share_run(api)
    page = page_of(api, under(link, "s0", "/"))
    assert [entry["id"] for entry in page["sessions"]] == [f"s{n}" for n in range(50, 0, -1)]
    assert page["moreSessions"]
    assert not any(entry["current"] for entry in page["sessions"])


def test_a_link_leads_to_its_view_unless_the_address_has_one(api: Api) -> None:
    session = new_session(api)
    answer = api.http.post(f"{session}/shareLinks", json={"view": TRACE})
    link = answer.json()
    assert link["view"] == TRACE
    assert api.http.get(f"/{link['name']}").json()["view"] == TRACE
    base = f"/s/{link['token']}{XPROF}/"
    assert location(api, f"/s/{link['token']}") == f"{base}?{TRACE_QUERY}"
    assert location(api, f"/s/{link['token']}?tag=hlo_stats") == f"{base}?tag=hlo_stats"
    assert page_of(api, base)["view"] == TRACE
    plain = api.http.post(f"{session}/shareLinks", json={}).json()
    assert plain["view"] == {}
    assert location(api, f"/s/{plain['token']}") == f"/s/{plain['token']}{XPROF}/"


def test_the_view_of_a_run_may_name_the_session_to_open_first(api: Api) -> None:
    new_session(api, "r", "old")
    add_session(api, "r", "new")
    link = share_run(api, view={**TRACE, "session": "old"})
    assert location(api, f"/s/{link['token']}") == f"{under(link, 'old', '/')}?{TRACE_QUERY}"
    # Another session has other hosts and another time: only the tool means the same there.
    other = f"/s/{link['token']}/sessions/new"
    assert location(api, other) == f"{under(link, 'new', '/')}?tag=trace_viewer%40"
    api.http.delete(session_path("r", "old"))
    assert location(api, f"/s/{link['token']}") == location(api, other)


@pytest.mark.parametrize(
    ("view", "field"),
    [
        ({"tool": "no_such"}, "view.tool"),
        ({"tool": "overview_page", "hosts": ["a", "b"]}, "view.hosts"),
        ({"tool": "trace_viewer@", "startMs": 2, "endMs": 1}, "view.endMs"),
        ({"session": "never"}, "view.session"),
        ({"colour": "red"}, "view.colour"),
        ("tag=hlo_stats", "view"),
    ],
)
def test_a_view_that_can_not_be_shown_is_refused_by_name(
    api: Api, view: object, field: str
) -> None:
    session = new_session(api)
    for path in (f"{session}/shareLinks", f"{run_path('r')}/shareLinks"):
        answer = api.http.post(path, json={"view": view})
        assert error_of(answer) == (400, "INVALID_ARGUMENT")
        assert fields_of(answer) == [field]
    assert api.http.get("/shareLinks").json()["shareLinks"] == []


def test_metrics_name_the_route_and_no_token(api: Api) -> None:
    new_session(api)
    link = share_run(api)
    get(api, under(link, "s"))
    text = httpx2.get(f"{api.url}/metrics").text
    assert "/s/{token}/sessions/{session}/data/plugin/profile/runs" in text
    assert link["token"][4:] not in text
