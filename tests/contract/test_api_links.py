"""Share links and API tokens through the API, on both databases."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.contract.api_calls import error_of, fields_of, new_session
from tests.services.api import Api, api_settings, serve_api


def test_a_link_is_told_once(api: Api) -> None:
    session = new_session(api)
    before = datetime.now(UTC)
    answer = api.http.post(f"{session}/shareLinks", json={"note": "for\nreview"})
    assert answer.status_code == 200
    link = answer.json()
    assert link["uri"] == f"{api.url}/s/{link['token']}"
    assert link["token"].startswith("xph_")
    assert link["session"] == "machineLearningRuns/r/profilerSessions/s"
    assert (link["state"], link["opens"], link["note"]) == ("ACTIVE", 0, "for\nreview")
    expires = datetime.fromisoformat(link["expireTime"])
    assert timedelta() <= expires - before - timedelta(days=30) < timedelta(minutes=1)
    for path in (f"/{link['name']}", f"{session}/shareLinks", "/shareLinks"):
        text = api.http.get(path).text
        assert link["uid"] in text
        assert link["token"][4:] not in text
        assert '"token"' not in text


@pytest.mark.parametrize(
    ("body", "seconds"),
    [
        ({"ttl": "12h"}, 43_200),
        ({"ttl": "7d"}, 604_800),
        ({"never": True}, None),
        ({"ttl": "never"}, None),
    ],
)
def test_a_lifetime_may_be_chosen(api: Api, body: dict[str, object], seconds: int | None) -> None:
    link = api.http.post(f"{new_session(api)}/shareLinks", json=body).json()
    if seconds is None:
        assert link["expireTime"] is None
    else:
        made, ends = (datetime.fromisoformat(link[key]) for key in ("createTime", "expireTime"))
        assert ends - made == timedelta(seconds=seconds)


def test_an_expiry_may_be_a_moment_in_any_zone(api: Api) -> None:
    answer = api.http.post(
        f"{new_session(api)}/shareLinks", json={"expireTime": "2100-01-01T02:00:00+02:00"}
    )
    ends = datetime.fromisoformat(answer.json()["expireTime"])
    assert ends == datetime(2100, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"ttl": "soon"}, "ttl"),
        ({"ttl": "0d"}, "ttl"),
        ({"expireTime": "2020-01-01T00:00:00Z"}, "expireTime"),
        ({"expireTime": "2100-01-01T00:00:00"}, "expireTime"),
        ({"expireTime": "9999-12-31T23:59:59-23:59"}, "expireTime"),
        ({"expireTime": "9999-12-31T23:59:59Z"}, "expireTime"),
        ({"expireTime": "0001-01-01T00:00:00+23:59"}, "expireTime"),
        ({"ttl": "7d", "never": True}, "ttl"),
        ({"expires": "7d"}, "expires"),
        ({"note": "\0"}, "note"),
    ],
)
def test_a_wrong_lifetime_is_refused_by_name(api: Api, body: dict[str, object], field: str) -> None:
    answer = api.http.post(f"{new_session(api)}/shareLinks", json=body)
    assert error_of(answer) == (400, "INVALID_ARGUMENT")
    assert fields_of(answer) == [field]
    assert api.http.get("/shareLinks").json()["shareLinks"] == []


def test_a_revoked_link_stays_known_and_is_revoked_once(api: Api) -> None:
    link = api.http.post(f"{new_session(api)}/shareLinks", json={}).json()
    first = api.http.delete(f"/{link['name']}")
    assert (first.status_code, first.json()["state"]) == (200, "REVOKED")
    assert api.http.delete(f"/{link['name']}").json() == first.json()
    assert api.http.get(f"/{link['name']}").json() == first.json()
    assert error_of(api.http.delete("/shareLinks/unknown")) == (404, "NOT_FOUND")


def test_a_link_needs_a_session(api: Api) -> None:
    missing = "/machineLearningRuns/r/profilerSessions/s/shareLinks"
    assert error_of(api.http.post(missing, json={})) == (404, "NOT_FOUND")


def test_links_are_listed_page_by_page_for_one_session_or_all(api: Api) -> None:
    first, second = new_session(api, "r1"), new_session(api, "r2")
    made = {
        session: [api.http.post(f"{session}/shareLinks", json={}).json()["uid"] for _ in range(3)]
        for session in (first, second)
    }
    for path, expected in (
        (f"{first}/shareLinks", made[first][::-1]),
        ("/shareLinks", made[second][::-1] + made[first][::-1]),
    ):
        seen: list[str] = []
        token = ""
        while not seen or token:
            page = api.http.get(path, params={"pageSize": 2, "pageToken": token}).json()
            seen += [link["uid"] for link in page["shareLinks"]]
            token = page["nextPageToken"]
        assert seen == expected
    token = api.http.get("/shareLinks", params={"pageSize": 2}).json()["nextPageToken"]
    other = api.http.get(f"{first}/shareLinks", params={"pageToken": token})
    assert fields_of(other) == ["pageToken"]


def test_a_link_stands_on_the_public_address(tmp_path: Path) -> None:
    settings = api_settings(tmp_path, base_url="https://hub.example/", path_prefix="team/x/")
    with serve_api(settings) as api:
        link = api.http.post(f"{new_session(api)}/shareLinks", json={}).json()
        assert link["uri"] == f"https://hub.example/team/x/s/{link['token']}"


def test_a_link_stands_under_the_path_prefix(tmp_path: Path) -> None:
    with serve_api(api_settings(tmp_path, path_prefix="/team/x")) as api:
        link = api.http.post(f"{new_session(api)}/shareLinks", json={}).json()
        assert api.url.endswith("/team/x")
        assert link["uri"] == f"{api.url}/s/{link['token']}"


def test_api_tokens_are_told_once_and_revoked(api: Api) -> None:
    made = api.http.post("/apiTokens", json={"displayName": "job", "role": "viewer", "ttl": "1d"})
    token = made.json()
    assert token["token"].startswith("xpa_")
    assert (token["displayName"], token["role"], token["state"]) == ("job", "viewer", "ACTIVE")
    listed = api.http.get("/apiTokens")
    assert [entry["uid"] for entry in listed.json()["apiTokens"]] == [token["uid"]]
    assert token["token"][4:] not in listed.text
    assert api.http.delete(f"/{token['name']}").json()["state"] == "REVOKED"
    assert api.http.get(f"/{token['name']}").json()["state"] == "REVOKED"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "displayName"),
        ({"displayName": ""}, "displayName"),
        ({"displayName": "x", "role": "root"}, "role"),
        ({"displayName": "x", "ttl": "x"}, "ttl"),
        ({"displayName": "x", "expireTime": "9999-12-31T23:59:59-23:59"}, "expireTime"),
        ({"displayName": "x", "expireTime": "0001-01-01T00:00:00+23:59"}, "expireTime"),
    ],
)
def test_a_wrong_token_is_refused_by_name(api: Api, body: dict[str, object], field: str) -> None:
    assert fields_of(api.http.post("/apiTokens", json=body)) == [field]
