"""Links on pages, made, changed, found and revoked: what is offered, what is shown once, what is refused."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from html import unescape

import httpx2
import pytest

from auth.identity import Role
from auth.links import LinkAccess
from auth.sharing_rules import SharingRules
from server.registry.database import Database
from server.registry.rules import change_sharing_rules, get_sharing_rules
from tests.contract.api_calls import authorize, new_session
from tests.contract.browsing import browser, location, signed_in
from tests.contract.test_audit_events import events_of
from tests.services.api import Api, ApiServers

SHARE = "/runs/r/sessions/s/share"
ADDRESS = re.compile(r"<code translate=\"no\">(http[^<]+)</code>")
ROW = re.compile(r'<tr id="link-(\w+)"')
SENT = {"access": "UNLISTED", "lifetime": "7d", "password": "", "opens": "", "note": ""}


@pytest.fixture
def one_api(api_servers: ApiServers) -> Api:
    """A hub that asks for tokens, on one database: pages know nothing of it."""
    return api_servers.get("sqlite", "token")


def allow(api: Api, rules: SharingRules) -> None:
    """Sets the sharing rules."""
    database = Database(api.settings.resolved_database_url)
    change_sharing_rules(
        database,
        lambda _old: rules,
        updater="test",
        etag=None,
        now=datetime.now(UTC),
    )
    database.close()


def prepared(api: Api) -> None:
    """A run with a session."""
    authorize(api)
    new_session(api)


def address_in(page: httpx2.Response) -> str:
    """The new link's address that a page shows."""
    assert page.status_code == 200, page.text
    (found,) = ADDRESS.findall(page.text)
    return unescape(found)


def options(page: httpx2.Response, name: str) -> list[str]:
    """Values of a choice."""
    (chosen,) = re.findall(rf'<select[^>]*name="{name}"[^>]*>(.*?)</select>', page.text, re.DOTALL)
    return re.findall(r'value="([^"]*)"', chosen)


def test_a_link_is_made_shown_once_listed_and_revoked(guarded_api: Api) -> None:
    prepared(guarded_api)
    with signed_in(guarded_api, Role.EDITOR) as editor, browser(guarded_api) as viewer:
        form = editor.get(SHARE, params={"tag": "trace_viewer@", "host": "vm"})
        assert "No link yet" in form.text
        state = re.findall(r'name="state" value="([^"]*)"', form.text)
        sent = {**SENT, "note": "for <b>", "state": unescape(state[0]), "use": "on", "opens": "5"}
        made = editor.post(SHARE, data=sent)
        address = address_in(made)
        assert made.headers["cache-control"] == "no-store"
        assert 'class="qr-dark" d="M4 4h7' in made.text  # a finder pattern inside the quiet zone
        opened = location(viewer.get(address))
        assert "tag=trace_viewer%40&hosts=vm" in opened
        for _ in range(2):
            assert viewer.get(opened).status_code == 200
        shown = editor.get(SHARE)
        assert address.rpartition("/")[2] not in shown.text
        assert "for &lt;b&gt;" in shown.text
        (link,) = ROW.findall(shown.text)
        listed = editor.get("/links", params={"q": "s"})
        assert ROW.findall(listed.text) == [link]
        assert ROW.findall(editor.get("/links", params={"whose": "mine"}).text) == [link]
        back = location(editor.post(f"/links/{link}/revoke", data={"back": SHARE}))
        assert back == f"{SHARE}?revoked={link}"
        assert "opens nothing any more" in editor.get(back).text
        assert viewer.get(address).status_code == 410
        assert ROW.findall(editor.get("/links").text) == []
        assert ROW.findall(editor.get("/links", params={"state": "ended"}).text) == [link]
        assert editor.get(f"/links/{link}").text.count("That is final") == 1
    told = [
        (one["verb"], one["resource"], one["actorName"])
        for one in events_of(guarded_api, 'resource = "shareLinks/*"')
    ]
    assert told == [
        ("create", f"shareLinks/{link}", "editor"),
        ("open", f"shareLinks/{link}", ""),
        ("revoke", f"shareLinks/{link}", "editor"),
    ]


def test_a_link_to_a_run_and_all_that_can_be_said_of_one(one_api: Api) -> None:
    prepared(one_api)
    with signed_in(one_api, Role.EDITOR) as editor:
        sent = {
            **{"access": "ORG", "lifetime": "never", "password": "correct horse"},
            **{"opens": "3", "hide": "on", "note": "one\r\ntwo"},
        }
        address_in(editor.post("/runs/r/share", data=sent))
        (link,) = one_api.http.get("/machineLearningRuns/r/shareLinks").json()["shareLinks"]
        assert (link["access"], link["hasPassword"], link["mostOpens"]) == ("ORG", True, 3)
        assert (link["redacted"], link["note"]) == (True, "one\ntwo")
        assert (link["expireTime"], link["creator"]) == (None, "editor")
        path = f"/links/{link['uid']}"
        assert "correct horse" not in editor.get(path).text
        changed = {"access": "UNLISTED", "lifetime": "1d", "opens": "", "note": "new", "drop": "on"}
        assert location(editor.post(path, data=changed)) == f"{path}?changed=1"
        assert "The link is changed" in editor.get(f"{path}?changed=1").text
        now = one_api.http.get(f"/shareLinks/{link['uid']}").json()
        assert (now["access"], now["hasPassword"], now["mostOpens"]) == ("UNLISTED", False, None)
        assert (now["redacted"], now["note"]) == (True, "new")
        assert now["expireTime"] is not None
        kept = {"access": "ORG", "lifetime": "keep", "opens": "7", "note": "new"}
        assert editor.post(path, data=kept).status_code == 303
        again = one_api.http.get(f"/shareLinks/{link['uid']}").json()
        assert (again["expireTime"], again["mostOpens"]) == (now["expireTime"], 7)
    events = events_of(one_api, 'verb = "update"')
    assert [one["details"]["access"] for one in events] == ["UNLISTED", "ORG"]  # type: ignore[index]
    assert "horse" not in str(events_of(one_api))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"access": "EVERYBODY"}, "Choose whom the link lets in."),
        ({"lifetime": "soon"}, "Write a lifetime"),
        ({"password": "short"}, "A password has 8 to 200 characters."),
        ({"opens": "0"}, "Write a whole number"),
        ({"opens": "many"}, "Write a whole number"),
        ({"note": "\x07"}, "Control characters"),
    ],
)
def test_what_was_typed_wrong_is_said_beside_it_and_makes_nothing(
    one_api: Api, wrong: dict[str, str], said: str
) -> None:
    prepared(one_api)
    with signed_in(one_api, Role.EDITOR) as editor:
        answer = editor.post(SHARE, data={**SENT, "note": "kept as typed", **wrong})
        assert answer.status_code == 400
        assert said in answer.text
        assert "kept as typed" in answer.text or "note" in wrong
        assert not ROW.findall(editor.get(SHARE).text)


def test_only_what_the_rules_allow_is_offered_and_made(one_api: Api) -> None:
    prepared(one_api)
    with signed_in(one_api, Role.EDITOR) as editor:
        page = editor.get(SHARE)
        assert options(page, "access") == ["UNLISTED", "ORG"]
        assert options(page, "lifetime")[-1] == "never"
        allow(one_api, SharingRules(allow_unlisted=False, longest_days=10))
        page = editor.get(SHARE)
        assert options(page, "access") == ["ORG"]
        assert options(page, "lifetime")[-1] == "10d"
        assert "Links end after 10 days at the latest here." in page.text
        assert "Links that let in everybody who has them are not allowed here." in page.text
        for wrong in (
            {},
            {"access": "ORG", "lifetime": "never"},
            {"access": "ORG", "lifetime": "30d"},
        ):
            answer = editor.post(SHARE, data={**SENT, **wrong})
            assert answer.status_code == 400
            assert 'class="field-problem"' in answer.text
        assert not ROW.findall(editor.get(SHARE).text)
        address_in(editor.post(SHARE, data={**SENT, "access": "ORG", "lifetime": "10d"}))
        strict = SharingRules(unlisted_needs_password=True, unlisted_redacted_only=True)
        allow(one_api, strict)
        assert editor.post(SHARE, data={**SENT, "hide": "on"}).status_code == 400
        assert editor.post(SHARE, data={**SENT, "password": "correct horse"}).status_code == 400
        address_in(editor.post(SHARE, data={**SENT, "password": "correct horse", "hide": "on"}))
        allow(one_api, SharingRules(allow_unlisted=False))
        states = re.findall(
            r'class="badge badge-\w+"><bdi>([A-Z][\w ]+)</bdi>', editor.get(SHARE).text
        )
        assert "Not allowed" in states
        assert "Active" in states


def test_links_are_found_and_paged(one_api: Api) -> None:
    prepared(one_api)
    path = "/machineLearningRuns/r/profilerSessions/s/shareLinks"
    made = [
        one_api.http.post(path, json={"note": f"note {number}"}).json()["uid"]
        for number in range(52)
    ]
    with signed_in(one_api, Role.EDITOR) as editor:
        first = editor.get("/links", params={"q": "note"})
        assert ROW.findall(first.text) == made[:1:-1]
        (older,) = re.findall(r'rel="next" href="([^"]+)"', first.text)
        assert ROW.findall(editor.get(unescape(older)).text) == made[1::-1]
        assert ROW.findall(editor.get("/links", params={"q": "note 7"}).text) == [made[7]]
        assert ROW.findall(editor.get("/links", params={"whose": "mine"}).text) == []
        assert "No such link" in editor.get("/links", params={"q": "nothing"}).text


def test_who_may_and_what_is_not_there(one_api: Api) -> None:
    prepared(one_api)
    link = one_api.http.post("/machineLearningRuns/r/shareLinks", json={}).json()["uid"]
    reading = [SHARE, "/runs/r/share", "/links", f"/links/{link}"]
    changing = [SHARE, "/runs/r/share", f"/links/{link}", f"/links/{link}/revoke"]
    with signed_in(one_api, Role.VIEWER) as viewer, browser(one_api) as stranger:
        for path in reading:
            assert viewer.get(path).status_code == 403
            assert location(stranger.get(path)).startswith("/signin?next=")
        for path in changing:
            assert viewer.post(path, data=SENT).status_code == 403
            assert stranger.post(path, data=SENT).status_code in {401, 302}
    with signed_in(one_api, Role.EDITOR) as editor:
        for path in ("/runs/x/share", "/runs/r/sessions/x/share", "/links/x"):
            assert editor.get(path).status_code == 404
            assert editor.post(path, data=SENT).status_code == 404
        assert editor.post("/links/x/revoke").status_code == 404
        foreign = {"Origin": "https://evil.example"}
        for path in changing:
            assert editor.post(path, data=SENT, headers=foreign).status_code == 403
        back = {"back": "https://evil.example/"}
        assert location(editor.post(f"/links/{link}/revoke", data=back)) == f"/links?revoked={link}"
    answers = one_api.http.get("/shareLinks").json()["shareLinks"]
    assert [one["state"] for one in answers] == ["REVOKED"]


def test_an_admin_sets_the_rules_on_their_page(one_api: Api) -> None:
    prepared(one_api)
    path = "/admin/sharing"
    with signed_in(one_api, Role.EDITOR) as editor:
        assert editor.get(path).status_code == editor.post(path).status_code == 403
    with signed_in(one_api, Role.ADMIN) as admin:
        page = admin.get(path)
        (etag,) = re.findall(r'name="etag" value="(\w+)"', page.text)
        sent = {"etag": etag, "password": "on", "longest": "14", "access": "ORG", "usual": "0.5"}
        assert location(admin.post(path, data=sent)) == f"{path}?saved=1"
        database = Database(one_api.settings.resolved_database_url)
        rules = get_sharing_rules(database)
        assert rules.updater == "admin"
        assert rules.rules == SharingRules(
            allow_unlisted=False,
            longest_days=14,
            unlisted_needs_password=True,
            default_access=LinkAccess.ORG,
            default_days=0.5,
        )
        saved = admin.get(f"{path}?saved=1")
        assert "The rules are saved" in saved.text
        assert 'value="14"' in saved.text
        # Somebody else's page still shows the old state.
        stale = admin.post(path, data={**sent, "unlisted": "on"})
        assert (stale.status_code, "Somebody else has changed the rules" in stale.text) == (
            400,
            True,
        )
        for wrong in ("soon", "0", "-1", "4000", "nan"):
            answer = admin.post(path, data={"longest": wrong, "access": "ORG"})
            assert (answer.status_code, "Write a number of days" in answer.text) == (400, True)
            assert f'value="{wrong}"' in answer.text
        assert get_sharing_rules(database) == rules
        database.close()
    (event,) = events_of(one_api, 'resource = "sharingRules"')
    assert (event["action"], event["verb"]) == ("rules.manage", "update")
    assert event["details"]["changed"]["longestDays"] == 14  # type: ignore[index]
