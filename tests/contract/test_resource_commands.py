"""Commands that change and show single resources, against a running API: what they do and what they say."""

from __future__ import annotations

import json

import pytest

from server.client import ConflictError, HubClient
from server.registry.records import RunState
from server.schemas import Run
from tests.contract.api_calls import new_session, write_profile
from tests.contract.commands import Commands
from tests.services.api import Api, ApiServers


@pytest.fixture
def api(api_servers: ApiServers) -> Api:
    """A development server; one database is enough for what commands do."""
    return api_servers.get("sqlite", "dev")


@pytest.fixture
def hub(api: Api) -> Commands:
    """Commands of somebody who works with it, where a run `r` with a session `s` is."""
    new_session(api)
    return Commands(api.url)


def run_json(api: Api, run: str = "r") -> dict[str, object]:
    answer: dict[str, object] = api.http.get(f"/machineLearningRuns/{run}").json()
    return answer


def test_a_run_is_changed_where_it_is_asked_to_be(api: Api, hub: Commands) -> None:
    hub.lines("runs", "create", "q", "--label", "team=perf", "--set", "configs.batch=64")
    said = hub.said(
        "runs", "update", "q", "--name", "Q", "--label", "a.b=1", "--set", "configs.x=y"
    )
    assert said == "Changed displayName, labels.`a.b`, configs.x of run q.\n"
    found = run_json(api, "q")
    assert found["displayName"] == "Q"
    assert found["labels"] == {"team": "perf", "a.b": "1"}
    assert found["configs"] == {"batch": 64, "x": "y"}
    hub.said("runs", "update", "q", "--unset", "labels.team", "--unset", "configs.batch")
    found = run_json(api, "q")
    assert found["labels"] == {"a.b": "1"}
    assert found["configs"] == {"x": "y"}


def test_a_change_that_comes_too_late_changes_nothing(api: Api, hub: Commands) -> None:
    etag = str(run_json(api)["etag"])
    hub.said("runs", "update", "r", "--name", "first", "--etag", etag)
    hub.complaint("runs", "update", "r", "--name", "second", "--etag", etag, status=6)
    assert run_json(api)["displayName"] == "first"


def test_a_run_ends_and_is_opened_again(api: Api, hub: Commands) -> None:
    assert hub.said("runs", "end", "r") == "Run r has ended.\n"
    assert run_json(api)["state"] == "COMPLETED"
    hub.said("runs", "update", "r", "--set", "state=ACTIVE")
    assert run_json(api)["state"] == "ACTIVE"
    assert hub.said("runs", "end", "r", "--failed") == "Run r has failed.\n"
    assert run_json(api)["state"] == "FAILED"
    assert "State      failed" in "\n".join(hub.lines("runs", "show", "r"))


def test_deletions_say_what_is_gone_and_what_stays(api: Api, hub: Commands) -> None:
    hub.lines("sessions", "attach", "r", str(write_profile(api, "t")))
    said = hub.said("sessions", "delete", "r/t")
    assert said == (
        "Took r/t off its run and ended its links. The profile in storage stays.\n"
        "For some days it can come back: xprof-hub sessions undelete r/t\n"
    )
    said = hub.said("runs", "delete", "r")
    assert said == (
        "Deleted run r with its 1 session and their links. Profiles in storage stay.\n"
        "For some days it can come back: xprof-hub runs undelete r\n"
    )
    assert hub.complaint("runs", "delete", "r", status=3) == "xprof-hub: There is no run 'r'.\n"


def test_a_session_is_changed(api: Api, hub: Commands) -> None:
    said = hub.said("sessions", "update", "r/s", "--name", "step", "--hosts", "4")
    assert said == "Changed displayName, expectedHosts of session r/s.\n"
    hub.said("sessions", "update", "r/s", "--set", 'targets.vm={"rack": 5}')
    found = api.http.get("/machineLearningRuns/r/profilerSessions/s").json()
    assert (found["displayName"], found["expectedHosts"]) == ("step", 4)
    assert found["targets"] == {"vm": {"rack": 5}}
    assert "Hosts     1 of 4" in "\n".join(hub.lines("sessions", "show", "r/s"))


def test_links_of_one_target_are_listed_and_shown(api: Api, hub: Commands) -> None:
    hub.lines("share", "r/s", "--note", "session")
    hub.lines("share", "r", "--note", "run")
    for target, note in (("r/s", "session"), ("r", "run")):
        (link,) = json.loads("\n".join(hub.lines("links", "list", target, "--json")))
        assert link["note"] == note
        shown = hub.json("links", "show", link["uid"])
        assert shown == api.http.get(f"/shareLinks/{link['uid']}").json()
        assert f"Note     {note}" in "\n".join(hub.lines("links", "show", link["uid"]))


def test_tokens_are_shown_but_secrets_never_taken(api: Api, hub: Commands) -> None:
    made = hub.json("tokens", "create", "job", "--role", "ingest", "--expires", "1d")
    assert isinstance(made, dict)
    shown = hub.json("tokens", "show", made["uid"])
    assert shown == api.http.get(f"/apiTokens/{made['uid']}").json()
    assert "Role     ingest" in hub.lines("tokens", "show", made["uid"])
    for command in ("show", "revoke"):
        assert made["token"] not in hub.complaint("tokens", command, made["token"], status=2)


def test_lists_are_bounded_sorted_and_filtered(api: Api, hub: Commands) -> None:
    for name in ("b", "a", "c"):
        hub.lines("runs", "create", name, "--run-set", "few")
    condition = ("--filter", 'runSet = "few"')
    rows = hub.lines("runs", "list", *condition, "--order-by", "displayName", "--limit", "2")
    assert [row.split()[0] for row in rows] == ["RUN", "a", "b"]
    lines = hub.lines("runs", "list", *condition, "--jsonl")
    assert [json.loads(line)["name"].rpartition("/")[2] for line in lines] == ["c", "a", "b"]
    assert hub.lines("runs", "list", "--filter", 'runSet = "none"', "--jsonl") == []
    assert len(hub.lines("sessions", "list", "r", "--filter", "kind = ATTACHED")) == 2
    assert "filter" in hub.complaint("runs", "list", "--filter", "(((", status=2)


def test_json_holds_what_the_api_sent_and_nothing_else(api: Api, hub: Commands) -> None:
    hub.lines("share", "r", "--expires", "never")
    assert hub.json("links", "list") == api.http.get("/shareLinks").json()["shareLinks"]
    assert (
        hub.json("runs", "list")
        == api.http.get("/machineLearningRuns").json()["machineLearningRuns"]
    )
    listed = api.http.get("/machineLearningRuns/r/profilerSessions").json()
    assert hub.json("sessions", "list", "r") == listed["profilerSessions"]
    assert hub.json("whoami") == api.http.get("/caller").json()
    assert hub.json("operations", "list") == []


def test_operations_of_the_managed_api_are_shown(api: Api, hub: Commands) -> None:
    from httpx2 import post

    place = "projects/p/locations/l"
    answer = post(
        f"{api.url}/v1alpha/{place}/machineLearningRuns?machine_learning_run_id=managed",
        json={"displayName": "managed"},
        trust_env=False,
    )
    assert answer.status_code == 200, answer.text
    (operation,) = json.loads("\n".join(hub.lines("operations", "list", "--json")))
    header, row = hub.lines("operations", "list")
    assert header.split() == ["OPERATION", "STATE", "VERB", "TARGET", "CREATED"]
    assert row.split()[1:3] == ["done", "create"]
    shown = hub.lines("operations", "show", row.split()[0])
    assert f"Below      {place}" in shown
    assert operation["name"].endswith(row.split()[0])
    assert "kept a day" in hub.complaint("operations", "show", "x", status=3)


def test_pages_are_opened_by_their_address(api: Api, hub: Commands) -> None:
    opened = hub.lines("open", "r/s", "--no-browser")
    # Without a browser it says so aside; the address is all of the answer.
    session = api.http.get("/machineLearningRuns/r/profilerSessions/s").json()
    assert opened == [session["dashboardUri"]]
    assert hub.lines("open", "r", "--no-browser") == [f"{api.url}/runs/r"]
    (link,) = hub.lines("open", "r/s", "--link", "--no-browser")
    assert link.startswith(f"{api.url}/s/xph_")
    hub.complaint("open", "x", "--no-browser", status=3)
    hub.complaint("open", "r", "--expires", "1d", status=2)


@pytest.mark.parametrize(
    "arguments",
    [
        ("runs", "update", "r"),
        ("sessions", "update", "r/s"),
        ("runs", "update", "r", "--set", "displayNam=x"),
        ("runs", "list", "--limit", "0"),
        ("sessions", "prewarm", "r/s", "--wait", "--cancel"),
        ("runs", "list", "--order-by", "colour"),
    ],
)
def test_wrong_usage_ends_with_two(hub: Commands, arguments: tuple[str, ...]) -> None:
    hub.complaint(*arguments, status=2)


def test_the_prewarm_of_a_hub_without_any_is_said(hub: Commands) -> None:
    assert hub.lines("sessions", "prewarm", "r/s") == ["skipped"]
    assert hub.lines("sessions", "prewarm", "r/s", "--wait") == ["skipped"]
    assert hub.lines("sessions", "prewarm", "r/s", "--cancel") == ["skipped"]


def test_the_client_keeps_apart_what_went_wrong(api: Api, hub: Commands) -> None:
    with HubClient(api.url) as client:
        before = client.runs.get("r")
        client.runs.end("r", RunState.FAILED)
        with pytest.raises(ConflictError) as caught:
            client.runs.update("r", Run(display_name="x"), etag=before.etag)
        assert (caught.value.status, caught.value.code) == (409, "ABORTED")
