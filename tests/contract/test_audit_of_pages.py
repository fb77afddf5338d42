"""What people change on pages is written down like what they change by the API; what is refused is not."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from auth.identity import Role
from server.app import create_app
from tests.contract.api_calls import authorize, new_session
from tests.contract.browsing import signed_in
from tests.contract.route_rules import BY_HAND, Credential, ruled_routes
from tests.contract.test_audit_events import events_of
from tests.services.api import Api, ApiServers, api_settings

RUN = "machineLearningRuns/r"
SESSION = f"{RUN}/profilerSessions/s"
PAGE = "/runs/r/sessions/s"
MADE = "<made>"
CHANGES: tuple[tuple[str, dict[str, str], tuple[str, str, str]], ...] = (
    (f"{PAGE}/rename", {"name": "slow"}, ("sessions.write", "rename", SESSION)),
    (f"{PAGE}/pin", {"pinned": "yes"}, ("sessions.write", "pin", SESSION)),
    (f"{PAGE}/hold", {"held": "yes"}, ("holds.manage", "hold", SESSION)),
    (f"{PAGE}/hold", {"held": "no"}, ("holds.manage", "hold", SESSION)),
    (f"{PAGE}/expiry", {"expires": "2999-01-31"}, ("sessions.write", "expiry", SESSION)),
    (f"{PAGE}/cancel-prewarm", {}, ("sessions.write", "cancel-prewarm", SESSION)),
    (f"{PAGE}/comments", {"text": "Look!"}, ("comments.write", "create", MADE)),
    (f"{PAGE}/share", {"access": "ORG", "lifetime": "7d"}, ("links.create", "create", MADE)),
    (f"{PAGE}/delete", {}, ("sessions.write", "delete", SESSION)),
    (f"{PAGE}/undelete", {}, ("sessions.write", "undelete", SESSION)),
    ("/runs/r/note", {"note": "kept"}, ("runs.write", "update", RUN)),
    ("/runs/r/delete", {}, ("runs.write", "delete", RUN)),
    ("/runs/r/undelete", {}, ("runs.write", "undelete", RUN)),
    (
        "/admin/members",
        {"member": "domain:example.org", "role": "viewer"},
        ("members.manage", "create", MADE),
    ),
    ("/admin/sharing", {"unlisted": "on"}, ("rules.manage", "update", "sharingRules")),
)
REFUSED: tuple[tuple[str, dict[str, str]], ...] = (
    (f"{PAGE}/rename", {"name": "\x07"}),
    (f"{PAGE}/pin", {"pinned": "perhaps"}),
    (f"{PAGE}/expiry", {"expires": "soon"}),
    (f"{PAGE}/comments", {"text": ""}),
    (f"{PAGE}/share", {"access": "nobody"}),
    ("/runs/x/delete", {}),
    ("/admin/members", {"member": "everybody", "role": "viewer"}),
    ("/admin/sharing", {"longest": "-1"}),
)


@pytest.fixture
def one_api(api_servers: ApiServers) -> Api:
    """A hub that asks for tokens, on one database."""
    return api_servers.get("sqlite", "token")


def test_each_change_on_a_page_is_one_event_and_a_refusal_none(one_api: Api) -> None:
    authorize(one_api)
    new_session(one_api)
    with signed_in(one_api, Role.ADMIN) as admin:
        before = len(events_of(one_api))
        for path, sent in REFUSED:
            assert admin.post(path, data=sent).status_code >= 400, path
        foreign = {"Origin": "https://evil.example"}
        for path, sent, _ in CHANGES:
            assert admin.post(path, data=sent, headers=foreign).status_code == 403, path
        assert len(events_of(one_api)) == before
        for number, (path, sent, expected) in enumerate(CHANGES, before + 1):
            answer = admin.post(path, data=sent)
            assert answer.status_code < 400, (path, answer.text)
            events = events_of(one_api)
            assert len(events) == number, path
            told = (events[-1]["action"], events[-1]["verb"], events[-1]["resource"])
            assert told[:2] == expected[:2], path
            assert expected[2] in {told[2], MADE}, path
            assert events[-1]["actorName"] == "admin"
    assert "Look!" not in str(events_of(one_api))


def test_few_routes_change_something_by_other_means() -> None:
    """All others have a class that writes the event: those of the API, and those of pages."""
    with tempfile.TemporaryDirectory() as folder:
        app = create_app(api_settings(Path(folder), auth="token"))
    found = {
        (route.method, route.template)
        for route in ruled_routes(app)
        if route.changes
        and (
            route.credential in {Credential.NONE, Credential.LINK}
            or (route.method, route.template) in BY_HAND
        )
    }
    assert found == {
        # Written down in their own code; test_audit_people.py asks for these events.
        ("POST", "/signin"),
        ("POST", "/signout"),
        ("POST", "/device"),
        ("POST", "/v1/deviceCodes:exchange"),
        # These make nothing: a code that waits, a look that comes sooner, a key for a browser.
        ("POST", "/v1/deviceCodes"),
        ("POST", "/v1/notifications:push"),
        ("POST", "/s/{token}/unlock"),
    }
