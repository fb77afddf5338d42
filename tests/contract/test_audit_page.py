"""`/admin/audit`: what happened, searched by its form, exported as it was searched, for admins only."""

from __future__ import annotations

import json
import re

import httpx2

from auth.identity import Role
from server.registry.audit import add_audit_event
from server.registry.database import Database
from tests.contract.browsing import signed_in
from tests.integration.test_audit_log import event
from tests.services.api import Api

HOSTILE = "<script>alert(1)</script>"


def fill(api: Api, count: int = 3) -> None:
    """Events of three days' first moments and after."""
    database = Database(api.settings.resolved_database_url)
    for number in range(count):
        second = 600 * number
        add_audit_event(database, event(second, resource=f"machineLearningRuns/r{number:03}"))
    add_audit_event(
        database,
        event(86_400, actor="token:7", actor_name=HOSTILE, action="runs.write", verb="delete"),
    )
    database.close()


def rows(page: httpx2.Response) -> list[str]:
    """Ids of the events that a page shows."""
    assert page.status_code == 200, page.text
    return re.findall(r'<tr id="(\w+)"', page.text)


def test_the_form_finds_events_and_exports_what_it_found(guarded_api: Api) -> None:
    fill(guarded_api)
    with signed_in(guarded_api, Role.ADMIN) as browser:
        path = "/admin/audit"
        # Signing in is an event itself, but not of these days.
        days = {"from": "2026-03-01", "until": "2026-03-02"}
        page = browser.get(path, params=days)
        assert rows(page) == ["e86400", "e1200", "e600", "e0"]
        assert HOSTILE not in page.text
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page.text
        assert 'href="/runs/r001"' in page.text
        for asked, expected in (
            ({"actor": "ann@"}, ["e1200", "e600", "e0"]),
            ({"actor": "<script"}, ["e86400"]),
            ({"action": "runs.write"}, ["e86400"]),
            ({"resource": "Runs/r002"}, ["e1200"]),
            ({"from": "2026-03-02"}, ["e86400"]),
            ({"until": "2026-03-01"}, ["e1200", "e600", "e0"]),
            ({"resource": "nothing"}, []),
        ):
            assert rows(browser.get(path, params={**days, **asked})) == expected, asked
            lines = browser.get(f"{path}/export", params={**days, **asked}).text.splitlines()
            names = [json.loads(line)["name"] for line in lines]
            assert names == [f"auditEvents/{one}" for one in reversed(expected)]
        wrong = browser.get(path, params={"from": "yesterday"})
        assert wrong.status_code == 400
        assert "Write a day as in 2026-11-30." in wrong.text


def test_more_events_are_on_more_pages(guarded_api: Api) -> None:
    fill(guarded_api, 120)
    with signed_in(guarded_api, Role.ADMIN) as browser:
        first = browser.get("/admin/audit", params={"resource": "machineLearningRuns/r"})
        assert len(rows(first)) == 100
        (older,) = re.findall(r'rel="next" href="([^"]+)"', first.text)
        rest = browser.get(older.replace("&amp;", "&"))
        assert len(rows(rest)) == 20
        assert 'rel="next"' not in rest.text
        assert 'href="/admin/audit?resource=machineLearningRuns%2Fr"' in rest.text
        assert not set(rows(first)) & set(rows(rest))


def test_only_admins_see_it(guarded_api: Api) -> None:
    for role in (Role.VIEWER, Role.EDITOR):
        with signed_in(guarded_api, role) as browser:
            for path in ("/admin/audit", "/admin/audit/export"):
                assert browser.get(path).status_code == 403
