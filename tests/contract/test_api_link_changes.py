"""What a link asks for, as the API takes it, tells it and changes it; on both databases."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from auth.tokens import hash_token
from tests.contract.api_calls import error_of, fields_of, new_session
from tests.services.api import Api

PASSWORD = "correct horse"


def make(api: Api, **body: object) -> dict[str, object]:
    """A new link to a new session."""
    answer = api.http.post(f"{new_session(api)}/shareLinks", json=body)
    assert answer.status_code == 200, answer.text
    made: dict[str, object] = answer.json()
    return made


def change(api: Api, link: dict[str, object], mask: str = "", **body: object) -> dict[str, object]:
    """The link after a change."""
    answer = api.http.patch(f"/{link['name']}", params={"updateMask": mask}, json=body)
    assert answer.status_code == 200, answer.text
    changed: dict[str, object] = answer.json()
    return changed


def asks(link: dict[str, object]) -> tuple[object, ...]:
    """What a link asks for."""
    names = ("access", "hasPassword", "mostOpens", "redacted", "forbidden")
    return tuple(link[name] for name in names)


def test_a_link_tells_what_it_asks_for_and_never_the_password(api: Api) -> None:
    plain = make(api)
    assert asks(plain) == ("UNLISTED", False, None, False, None)
    answer = api.http.post(
        "/machineLearningRuns/r/profilerSessions/s/shareLinks",
        json={"access": "ORG", "password": PASSWORD, "mostOpens": 3, "redacted": True},
    )
    link = answer.json()
    assert asks(link) == ("ORG", True, 3, True, None)
    for text in (answer.text, api.http.get(f"/{link['name']}").text):
        assert PASSWORD not in text
        assert "scrypt" not in text
    assert asks(api.http.get(f"/{link['name']}").json()) == asks(link)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"password": "1234567"}, "password"),
        ({"password": "x" * 201}, "password"),
        ({"mostOpens": 0}, "mostOpens"),
        ({"mostOpens": 1_000_001}, "mostOpens"),
        ({"access": "EVERYBODY"}, "access"),
        (
            {"redacted": True, "view": {"tool": "graph_viewer", "module": "m", "op": "o"}},
            "view.module",
        ),
        ({"redacted": True, "view": {"tool": "hlo_stats", "op": "o"}}, "view.op"),
    ],
)
def test_what_can_not_be_is_refused_by_name(api: Api, body: dict[str, object], field: str) -> None:
    answer = api.http.post(f"{new_session(api)}/shareLinks", json=body)
    assert error_of(answer) == (400, "INVALID_ARGUMENT")
    assert fields_of(answer) == [field]
    assert "1234567" not in answer.text
    assert api.http.get("/shareLinks").json()["shareLinks"] == []


def test_a_link_is_changed_in_parts(api: Api) -> None:
    link = make(api, note="first", ttl="7d", password=PASSWORD)
    changed = change(api, link, note="second", mostOpens=5)
    assert (changed["note"], changed["mostOpens"]) == ("second", 5)
    assert (changed["hasPassword"], changed["expireTime"]) == (True, link["expireTime"])
    changed = change(api, link, access="ORG")
    assert asks(changed) == ("ORG", True, 5, False, None)
    # What the mask names and the body lacks is taken off.
    changed = change(api, link, mask="password,mostOpens,note")
    assert asks(changed) == ("ORG", False, None, False, None)
    assert changed["note"] == ""
    changed = change(api, link, ttl="14d")
    made, ends = (datetime.fromisoformat(str(changed[key])) for key in ("createTime", "expireTime"))
    assert timedelta() <= ends - made - timedelta(days=14) < timedelta(minutes=1)
    assert change(api, link, never=True)["expireTime"] is None
    # What was read may be sent back.
    sent = {key: value for key, value in changed.items() if key != "expireTime"}
    body = {**sent, "etag": "", "note": "x"}
    again = api.http.patch(f"/{link['name']}", json=body)
    assert (again.status_code, again.json()["note"]) == (200, "x")


def test_a_change_names_the_state_that_it_is_of(api: Api) -> None:
    link = make(api)
    assert api.http.get(f"/{link['name']}").headers["etag"] == f'"{link["etag"]}"'
    first = change(api, link, note="a", etag=link["etag"])
    assert first["etag"] != link["etag"]
    late = api.http.patch(f"/{link['name']}", json={"note": "b", "etag": link["etag"]})
    assert error_of(late) == (409, "ABORTED")
    secret = change(api, link, password=PASSWORD)
    again = change(api, link, password=PASSWORD)
    assert secret["etag"] != again["etag"]
    revoking = api.http.delete(f"/{link['name']}", headers={"If-Match": f'"{first["etag"]}"'})
    assert error_of(revoking) == (409, "ABORTED")


@pytest.mark.parametrize(
    ("mask", "body", "field"),
    [
        ("redacted", {}, "updateMask"),
        ("view", {}, "updateMask"),
        ("access", {}, "access"),
        ("", {"ttl": "1d", "never": True}, "ttl"),
        ("", {"password": "short"}, "password"),
        ("", {"opened": 3}, "opened"),
    ],
)
def test_what_can_not_be_changed_is_refused_by_name(
    api: Api, mask: str, body: dict[str, object], field: str
) -> None:
    link = make(api)
    answer = api.http.patch(f"/{link['name']}", params={"updateMask": mask}, json=body)
    assert error_of(answer) == (400, "INVALID_ARGUMENT")
    assert fields_of(answer) == [field]
    assert api.http.get(f"/{link['name']}").json()["etag"] == link["etag"]


def test_a_revoked_link_is_not_changed_any_more(api: Api) -> None:
    link = make(api)
    api.http.delete(f"/{link['name']}")
    answer = api.http.patch(f"/{link['name']}", json={"note": "x"})
    assert error_of(answer) == (400, "FAILED_PRECONDITION")
    assert error_of(api.http.patch("/shareLinks/x", json={"note": "x"})) == (404, "NOT_FOUND")


def test_whoever_has_the_address_finds_its_link_without_sending_the_token(api: Api) -> None:
    link = make(api)
    api.http.post("/machineLearningRuns/r/profilerSessions/s/shareLinks", json={})
    digest = hash_token(str(link["token"]))
    found = api.http.get("/shareLinks", params={"tokenHash": digest}).json()["shareLinks"]
    assert [one["uid"] for one in found] == [link["uid"]]
    other = api.http.get("/shareLinks", params={"tokenHash": digest[::-1]}).json()
    assert other["shareLinks"] == []
    assert fields_of(api.http.get("/shareLinks", params={"tokenHash": "xph_x"})) == ["tokenHash"]


def test_a_creation_that_is_sent_again_keeps_no_password(api: Api) -> None:
    path = f"{new_session(api)}/shareLinks?requestId=once"
    first = api.http.post(path, json={"password": PASSWORD})
    again = api.http.post(path, json={"password": PASSWORD})
    assert first.status_code == 200
    assert error_of(again) == (409, "ALREADY_EXISTS")
