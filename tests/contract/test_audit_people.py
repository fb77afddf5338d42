"""The audit log and people: who signs in and out, lets programs in, opens links, makes tokens on the spot."""

from __future__ import annotations

import httpx2
import pytest

from auth.identity import Role
from tests.contract.api_calls import authorize, new_session, token_for
from tests.contract.browsing import browser, location, sign_in
from tests.contract.commands import Commands
from tests.contract.test_audit_events import events_of
from tests.contract.test_device_sign_in import begin, decide, exchange
from tests.services.api import Api, ApiServers


@pytest.fixture
def one_api(api_servers: ApiServers) -> Api:
    """A hub that asks for tokens, on one database."""
    return api_servers.get("sqlite", "token")


def done(api: Api, condition: str) -> list[tuple[object, ...]]:
    """Actor, action and verb of the events that a filter leaves, oldest first."""
    authorize(api)
    found = events_of(api, condition)
    return [(one["actor"], one["action"], one["verb"]) for one in found]


def test_signing_in_and_out_and_letting_a_program_in(one_api: Api) -> None:
    token_id, secret = token_for(one_api, Role.EDITOR)
    actor = f"token:{token_id}"
    with browser(one_api) as client:
        assert sign_in(client, one_api, "xpa_wrong").status_code == 403
        assert sign_in(client, one_api, secret).status_code == 303
        code = begin(one_api)
        assert decide(client, code, "allow", "xpa_wrong").status_code == 403
        assert decide(client, code, "allow", secret).status_code == 200
        made = exchange(one_api, code).json()
        assert decide(client, begin(one_api), "refuse").status_code == 200
        assert client.post("/signout").status_code == 303
        assert client.post("/signout").status_code == 303
    assert done(one_api, "") == [
        (actor, "people.sign_in", "sign_in"),
        (actor, "people.let_in", "allow"),
        (actor, "tokens.manage", "create"),
        (actor, "people.let_in", "refuse"),
        (actor, "people.sign_out", "sign_out"),
    ]
    signed_in, _, created, _, signed_out = events_of(one_api)
    assert signed_in["resource"] == signed_out["resource"]
    assert signed_in["details"] == {"method": "token"}
    assert created["resource"] == made["name"]
    assert secret[4:] not in str(events_of(one_api))
    assert made["token"][4:] not in str(events_of(one_api))


def test_the_first_opening_of_a_day_by_each_viewer(one_api: Api) -> None:
    authorize(one_api)
    session = new_session(one_api)
    made = one_api.http.post(f"{session}/shareLinks", json={}).json()
    _, secret = token_for(one_api, Role.VIEWER)

    def open_with(client: httpx2.Client, agent: str) -> None:
        headers = {"User-Agent": agent, "Accept": "text/html"}
        page = location(client.get(made["uri"], headers=headers))
        assert client.get(page, headers=headers).status_code == 200

    with browser(one_api) as stranger:
        for agent in ("one", "other", "one"):
            open_with(stranger, agent)
    with browser(one_api) as known:
        assert sign_in(known, one_api, secret).status_code == 303
        for agent in ("one", "two"):
            open_with(known, agent)
    events = events_of(one_api, f'resource = "{made["name"]}" AND verb = open')
    actors = [str(one["actor"]) for one in events]
    assert [actor.partition(":")[0] for actor in actors] == ["viewer", "viewer", "token"]
    assert len(set(actors)) == 3
    # Nobody's address but that of who is known; of the others, what their network is.
    assert [one["address"] for one in events] == ["127.0.0.0/24", "127.0.0.0/24", "127.0.0.1"]
    assert {str(one["details"]) for one in events} == {
        "{'target': 'machineLearningRuns/r/profilerSessions/s'}"
    }
    assert made["token"][4:] not in str(events)
    assert one_api.http.get(f"/{made['name']}").json()["opens"] == 5


def test_a_token_that_is_made_beside_the_hub(one_api: Api) -> None:
    commands = Commands(one_api.url)
    commands.environment |= {
        "XPROF_HUB_DATABASE_URL": one_api.settings.resolved_database_url,
        "XPROF_HUB_DATA_DIR": str(one_api.settings.data_dir),
    }
    made = commands.run("tokens", "create", "ci", "--local", "--role", "viewer")
    assert made.exit_code == 0, made.output
    assert done(one_api, "") == [("hub:command", "tokens.manage", "create")]
    (event,) = events_of(one_api)
    assert event["details"] == {"displayName": "ci", "role": "viewer"}
    assert made.stdout.strip()[4:] not in str(event)
