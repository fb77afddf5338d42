"""What an admin allows counts for new links, for changes, and for links that exist; on both databases."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import httpx2
import pytest
from sqlalchemy import update

from server.registry.database import Database
from server.registry.models import LinkRow
from tests.contract.api_calls import error_of, fields_of, new_session
from tests.contract.browsing import PAGE, XPROF
from tests.services.api import Api

LINKS = "/machineLearningRuns/r/profilerSessions/s/shareLinks"
PASSWORD = "correct horse"


def rule(api: Api, **rules: object) -> dict[str, object]:
    """The rules after a change."""
    answer = api.http.patch("/sharingRules", json=rules)
    assert answer.status_code == 200, answer.text
    changed: dict[str, object] = answer.json()
    return changed


def make(api: Api, **body: object) -> httpx2.Response:
    """Asks for a link to the session."""
    return api.http.post(LINKS, json=body)


def opened(link: dict[str, str], **headers: str) -> httpx2.Response:
    """XProf's page under a link."""
    return httpx2.get(f"{link['uri']}{XPROF}/", headers=headers)


def days_of(link: dict[str, str]) -> float:
    made, ends = (datetime.fromisoformat(link[key]) for key in ("createTime", "expireTime"))
    return (ends - made) / timedelta(days=1)


def test_at_first_everything_is_allowed_and_changes_are_kept(api: Api) -> None:
    first = api.http.get("/sharingRules")
    shown = first.json()
    etag = shown.pop("etag")
    assert first.headers["etag"] == f'"{etag}"'
    assert shown == {
        "name": "sharingRules",
        "updater": "",
        "updateTime": None,
        "allowUnlisted": True,
        "longestDays": None,
        "unlistedNeedsPassword": False,
        "unlistedRedactedOnly": False,
        "defaultAccess": "UNLISTED",
        "defaultDays": None,
    }
    changed = rule(api, longestDays=14, allowUnlisted=False, etag=etag)
    assert (changed["longestDays"], changed["allowUnlisted"]) == (14.0, False)
    assert changed["updater"] == "local"
    assert datetime.now(UTC) - datetime.fromisoformat(str(changed["updateTime"])) < timedelta(
        minutes=1
    )
    assert api.http.get("/sharingRules").json() == changed
    late = api.http.patch("/sharingRules", json={"longestDays": 1, "etag": etag})
    assert error_of(late) == (409, "ABORTED")
    lifted = api.http.patch("/sharingRules", params={"updateMask": "longestDays"}, json={})
    assert lifted.json()["longestDays"] is None
    assert lifted.json()["allowUnlisted"] is False


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"longestDays": 0}, "longestDays"),
        ({"longestDays": 1e-300}, "longestDays"),
        ({"defaultDays": 4000}, "defaultDays"),
        ({"defaultAccess": "ALL"}, "defaultAccess"),
        ({"allowAll": True}, "allowAll"),
    ],
)
def test_wrong_rules_are_refused_by_name(api: Api, body: dict[str, object], field: str) -> None:
    answer = api.http.patch("/sharingRules", json=body)
    assert error_of(answer) == (400, "INVALID_ARGUMENT")
    assert fields_of(answer) == [field]


def test_no_link_is_made_that_is_not_allowed(api: Api) -> None:
    new_session(api)
    rule(api, unlistedNeedsPassword=True)
    assert fields_of(make(api)) == ["password"]
    assert make(api, password=PASSWORD).status_code == 200
    assert make(api, access="ORG").status_code == 200
    rule(api, unlistedRedactedOnly=True)
    assert fields_of(make(api, password=PASSWORD)) == ["redacted"]
    assert make(api, password=PASSWORD, redacted=True).status_code == 200
    rule(api, allowUnlisted=False)
    assert fields_of(make(api, access="UNLISTED", password=PASSWORD, redacted=True)) == ["access"]
    # Whoever says nothing gets what is allowed.
    assert make(api).json()["access"] == "ORG"


def test_no_link_is_made_for_longer_than_is_allowed(api: Api) -> None:
    new_session(api)
    rule(api, longestDays=14)
    assert make(api, ttl="14d").status_code == 200
    for body, field in (
        ({"ttl": "15d"}, "ttl"),
        ({"ttl": "never"}, "ttl"),
        ({"never": True}, "never"),
        ({"expireTime": "2100-01-01T00:00:00Z"}, "expireTime"),
    ):
        assert fields_of(make(api, **body)) == [field]
    # The usual 30 days are cut, and a default of the rules goes before them.
    assert days_of(make(api).json()) == pytest.approx(14)
    rule(api, defaultDays=3, defaultAccess="ORG")
    link = make(api).json()
    assert days_of(link) == pytest.approx(3)
    assert link["access"] == "ORG"


def test_no_link_is_changed_into_what_is_not_allowed(api: Api) -> None:
    new_session(api)
    rule(api, unlistedNeedsPassword=True, longestDays=14)
    link = make(api, password=PASSWORD).json()
    path = f"/{link['name']}"
    off = api.http.patch(path, params={"updateMask": "password"}, json={})
    assert fields_of(off) == ["password"]
    assert fields_of(api.http.patch(path, json={"never": True})) == ["never"]
    assert api.http.patch(path, json={"note": "x"}).status_code == 200
    inside = {"access": "ORG", "password": None}
    changed = api.http.patch(path, params={"updateMask": "access,password"}, json=inside)
    assert changed.status_code == 200
    assert fields_of(api.http.patch(path, json={"access": "UNLISTED"})) == ["password"]


def test_a_stricter_rule_counts_for_old_links_at_once(api: Api) -> None:
    new_session(api)
    link = make(api).json()
    assert opened(link).status_code == 200
    for rules, breach in (
        ({"allowUnlisted": False}, "unlisted"),
        ({"allowUnlisted": True, "unlistedNeedsPassword": True}, "password"),
        ({"unlistedNeedsPassword": False, "unlistedRedactedOnly": True}, "redacted"),
    ):
        rule(api, **rules)
        assert error_of(opened(link)) == (403, "PERMISSION_DENIED")
        page = opened(link, **PAGE)
        assert page.status_code == 403
        assert "Links like this one are not allowed any more" in page.text
        assert page.headers["cache-control"] == "no-store"
        assert httpx2.get(f"{link['uri']}{XPROF}/runs").status_code == 403
        shown = api.http.get(f"/{link['name']}").json()
        assert (shown["state"], shown["forbidden"]) == ("ACTIVE", breach)
    rule(api, unlistedRedactedOnly=False)
    assert opened(link).status_code == 200


def test_the_longest_life_counts_from_a_links_creation(api: Api) -> None:
    new_session(api)
    link, young = make(api, never=True).json(), make(api, never=True).json()
    database = Database(api.settings.resolved_database_url)
    with database.writing() as session:
        made = datetime.now(UTC) - timedelta(days=15)
        old = update(LinkRow).where(LinkRow.id == link["uid"])
        session.execute(old.values(created=made))
    database.close()
    assert opened(link).status_code == 200
    rule(api, longestDays=14)
    assert opened(link).status_code == 410
    shown = api.http.get(f"/{link['name']}").json()
    assert shown["state"] == "EXPIRED"
    assert days_of(shown) == pytest.approx(14)
    page = opened(young)
    assert page.status_code == 200
    end = datetime.fromisoformat(young["createTime"]) + timedelta(days=14)
    assert f"{end:%Y-%m-%dT%H:%M:%S}" in page.text
