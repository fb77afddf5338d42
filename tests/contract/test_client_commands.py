"""The client commands against a running API: what they print, where, and with which exit status."""

from __future__ import annotations

import json
from pathlib import Path

import httpx2
import pytest

from tests.contract.api_calls import write_profile
from tests.contract.commands import Commands
from tests.services.api import Api, ApiServers


@pytest.fixture
def api(api_servers: ApiServers) -> Api:
    """A development server; one database is enough for what commands do."""
    return api_servers.get("sqlite", "dev")


@pytest.fixture
def hub(api: Api) -> Commands:
    """Commands of somebody who works with it."""
    return Commands(api.url)


def test_a_profile_is_shared_with_three_commands(api: Api, hub: Commands) -> None:
    folder = write_profile(api, "2026 \u00fc", "vm0", "vm1")
    assert hub.lines("runs", "create", "my run", "--label", "team=perf") == ["my run"]
    assert hub.lines("sessions", "attach", "my run", str(folder)) == ["my run/2026 \u00fc"]
    (uri,) = hub.lines("share", "my run/2026 \u00fc", "--expires", "7d", "--note", "look")
    assert uri.startswith(f"{api.url}/s/xph_")
    (link,) = json.loads("\n".join(hub.lines("links", "list", "--json")))
    assert (link["state"], link["note"]) == ("ACTIVE", "look")
    revoked = hub.run("links", "revoke", uri)
    assert (revoked.exit_code, revoked.stdout) == (0, "")
    target = "my run/2026 \u00fc"
    assert revoked.stderr == f"Revoked link {link['uid']} to {target}: it opens nothing any more.\n"
    assert "revoked" in hub.lines("links", "list")[1]


def test_a_whole_run_is_shared_by_its_name(api: Api, hub: Commands) -> None:
    hub.lines("runs", "create", "r")
    hub.lines("sessions", "attach", "r", str(write_profile(api, "s")))
    (uri,) = hub.lines("share", "r")
    token = uri.removeprefix(f"{api.url}/s/")
    answer = httpx2.get(uri, follow_redirects=True)
    assert answer.url.path == f"/s/{token}/sessions/s/data/plugin/profile/"
    assert "There is no run 'x'." in hub.complaint("share", "x", status=3)


def test_a_link_is_made_with_the_view_of_a_copied_address(api: Api, hub: Commands) -> None:
    hub.lines("runs", "create", "r")
    hub.lines("sessions", "attach", "r", str(write_profile(api, "s")))
    copied = "https://other/s/xph_x/data/plugin/profile/hlo_stats?run=q&tag=hlo_stats&host=vm"
    (uri,) = hub.lines("share", "r/s", "--view", copied)
    location = httpx2.get(uri).headers["location"]
    assert location.endswith("/data/plugin/profile/?tag=hlo_stats&host=vm")
    hub.lines("share", "r", "--view", "tag=trace_viewer@&view_start=1&view_end=2.5")
    header, to_run, to_session = hub.lines("links", "list")
    assert header.split()[2:5] == ["TARGET", "TERMS", "VIEW"]
    assert to_run.split()[2:6] == ["r/*", "trace_viewer@", "1-2.5", "ms"]
    assert to_session.split()[2:5] == ["r/s", "hlo_stats", "vm"]


def test_what_exists_is_listed_and_shown(api: Api, hub: Commands) -> None:
    folder = write_profile(api, "s", "vm0", "vm1")
    hub.lines("runs", "create", "r", "--name", "[bold]Llama[/bold]", "--run-set", "llama")
    hub.lines("sessions", "attach", "r", str(folder), "--hosts", "2", "--name", "step 1")
    header, row = hub.lines("runs", "list")
    assert header.split() == ["RUN", "NAME", "GROUP", "STATE", "SESSIONS", "CREATOR", "CREATED"]
    assert row.split()[:6] == ["r", "[bold]Llama[/bold]", "llama", "active", "1", "local"]
    assert hub.lines("runs", "list", "--filter", 'runSet = "other"')[0].split() == header.split()
    assert "Name       [bold]Llama[/bold]" in hub.lines("runs", "show", "r")
    row = hub.lines("sessions", "list", "r")[1]
    assert row.split()[0] == "r/s"
    assert str(folder) in row
    shown = "\n".join(hub.lines("sessions", "show", "r/s"))
    for text in ("step 1", str(folder), "vm0", "vm1.xplane.pb"):
        assert text in shown


def test_json_is_what_the_api_answers(api: Api, hub: Commands) -> None:
    folder = write_profile(api, "s")
    created = json.loads("\n".join(hub.lines("runs", "create", "r", "--json")))
    assert created == api.http.get("/machineLearningRuns/r").json()
    attached = json.loads("\n".join(hub.lines("sessions", "attach", "r", str(folder), "--json")))
    path = "/machineLearningRuns/r/profilerSessions/s"
    assert attached == api.http.get(path).json()
    now = api.http.get("/machineLearningRuns/r").json()
    assert json.loads("\n".join(hub.lines("runs", "list", "--json"))) == [now]
    (listed,) = json.loads("\n".join(hub.lines("sessions", "list", "r", "--json")))
    assert listed["name"] == attached["name"]
    assert json.loads("\n".join(hub.lines("sessions", "show", "r/s", "--json"))) == attached
    link = json.loads("\n".join(hub.lines("share", "r/s", "--json")))
    assert link["uri"].endswith(link["token"])
    assert json.loads("\n".join(hub.lines("sessions", "delete", "r/s", "--json"))) == {}
    assert json.loads("\n".join(hub.lines("runs", "delete", "r", "--json"))) == {}
    assert json.loads("\n".join(hub.lines("runs", "list", "--json"))) == []


def test_lists_go_on_over_many_pages(api: Api, hub: Commands) -> None:
    for number in range(3):
        hub.lines("runs", "create", f"r{number}")
    from server.client import HubClient

    with HubClient(api.url) as client:
        assert [run.display_name for run in client.runs.list()] == ["r2", "r1", "r0"]


def test_a_relative_location_is_the_callers(
    api: Api, hub: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_profile(api, "s")
    monkeypatch.chdir(folder.parent)
    hub.lines("runs", "create", "r")
    assert hub.lines("sessions", "attach", "r", "s") == ["r/s"]
    assert hub.lines("sessions", "attach", "r", "./../profile/s/", "--id", "t") == ["r/t"]


def test_missing_hosts_are_said_aside(api: Api, hub: Commands) -> None:
    hub.lines("runs", "create", "r")
    result = hub.run("sessions", "attach", "r", str(write_profile(api, "s")), "--hosts", "4")
    assert (result.exit_code, result.stdout) == (0, "r/s\n")
    assert "Only 1 of 4 hosts" in result.stderr


def test_what_cant_be_merged_is_said(api: Api, hub: Commands) -> None:
    hub.lines("runs", "create", "r")
    assert json.loads("\n".join(hub.lines("sessions", "mergeable", "r", "--json"))) == []
    assert hub.lines("sessions", "mergeable", "r")[0].split() == [
        *("SESSIONS", "HOSTS", "FROM", "OVERLAP", "BASIS")
    ]
    for session in ("a", "b"):
        hub.lines("sessions", "attach", "r", str(write_profile(api, session, "vm0")))
    complaint = hub.complaint("sessions", "merge", "r", "a", "b")
    assert "Host 'vm0' is in more than one of these sessions (a, b)." in complaint
    assert "vm0 is in a, b" in complaint.splitlines()[1]


def test_a_refusal_is_a_sentence_on_standard_error(api: Api, hub: Commands) -> None:
    assert hub.complaint("runs", "show", "x", status=3) == "xprof-hub: There is no run 'x'.\n"
    hub.lines("runs", "create", "r")
    assert "already" in hub.complaint("runs", "create", "r", status=6)
    folders = [write_profile(api, name) for name in ("one", "two")]
    complaint = hub.complaint("sessions", "attach", "r", str(folders[0].parents[2]), status=2)
    assert complaint.splitlines()[1:] == [f"  {folder}" for folder in folders]
    hub.lines("sessions", "attach", "r", str(folders[0]))
    assert "ttl:" in hub.complaint("share", "r/one", "--expires", "soon", status=2)


@pytest.mark.parametrize(
    "arguments",
    [
        ["share", ""],
        ["share", "/s"],
        ["share", "a/"],
        ["share", "r/s", "--view", "nonsense"],
        ["share", "a/b/c"],
        ["sessions", "show", "/s"],
        ["runs", "create", "r", "--label", "x"],
        ["runs", "create"],
        ["tokens", "create", "x", "--role", "root"],
        ["sessions", "attach", "r", "/x", "--hosts", "0"],
        ["sessions", "merge", "r"],
        ["sessions", "merge", "r", "a"],
    ],
)
def test_wrong_usage_ends_with_two(hub: Commands, arguments: list[str]) -> None:
    result = hub.run(*arguments)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:9", "http://127.0.0.1:9/xph_AAAAAAAAAAAAAAA", "nonsense", "http://[x"]
)
def test_a_hub_that_does_not_answer_is_named(url: str) -> None:
    complaint = Commands(url, "xpa_secretsecret").complaint("runs", "list", status=5)
    assert "does not answer" in complaint
    assert "XPROF_HUB_URL" in complaint.splitlines()[1]
    assert "AAAA" not in complaint
    assert "secret" not in complaint


def test_something_else_at_the_address_is_told_apart(api: Api) -> None:
    complaint = Commands(f"{api.url}/s").complaint("runs", "list", status=3)
    assert "answer" in complaint or "nothing" in complaint


def test_the_first_token_is_made_without_a_hub(api_servers: ApiServers, tmp_path: Path) -> None:
    api = api_servers.get("sqlite", "token")
    nobody = Commands(api.url)
    assert "API token" in nobody.complaint("runs", "list", status=4)
    nobody.environment["XPROF_HUB_DATABASE_URL"] = api.settings.database_url
    (secret,) = nobody.lines("tokens", "create", "first", "--local", "--role", "admin")
    assert secret.startswith("xpa_")
    admin = Commands(api.url, secret)
    (second,) = admin.lines("tokens", "create", "job", "--role", "viewer", "--expires", "1d")
    job = Commands(api.url, second)
    assert len(job.lines("runs", "list")) == 1
    assert "runs.register" in job.complaint("runs", "create", "r", status=4)
    entries = json.loads("\n".join(admin.lines("tokens", "list", "--json")))
    assert [(entry["displayName"], entry["role"]) for entry in entries] == [
        ("job", "viewer"),
        ("first", "admin"),
    ]
    revoked = admin.run("tokens", "revoke", entries[0]["uid"])
    assert (revoked.exit_code, revoked.stdout) == (0, "")
    assert f"{entries[0]['uid']} (job)" in revoked.stderr
    assert "API token" in job.complaint("runs", "list", status=4)
    assert "revoked" in admin.lines("tokens", "list")[1]


def test_a_local_token_needs_no_existing_database(tmp_path: Path) -> None:
    commands = Commands("http://127.0.0.1:9")
    commands.environment["XPROF_HUB_DATABASE_URL"] = ""
    commands.environment["XPROF_HUB_DATA_DIR"] = str(tmp_path / "new" / "data")
    made = commands.run("tokens", "create", "first", "--local")
    assert made.exit_code == 0
    assert made.stdout.startswith("xpa_")
    assert str(tmp_path / "new" / "data" / "registry.sqlite") in made.stderr
    assert (tmp_path / "new" / "data" / "registry.sqlite").exists()


@pytest.mark.parametrize(
    ("variables", "expires", "word"),
    [
        ({}, "soon", "lifetime"),
        ({"XPROF_HUB_DATABASE_URL": "mysql://h/d"}, "1d", "mysql"),
        ({"XPROF_HUB_DATABASE_URL": "postgresql://127.0.0.1:9/d"}, "1d", "can't be used"),
        ({"XPROF_HUB_DATABASE_URL": "nonsense"}, "1d", "XPROF_HUB_DATABASE_URL"),
        ({"XPROF_HUB_PORT": "x"}, "1d", "XPROF_HUB_PORT"),
        ({"XPROF_HUB_DATA_DIR": "/dev/null/x"}, "1d", "/dev/null"),
    ],
)
def test_a_local_token_fails_in_words(
    tmp_path: Path, variables: dict[str, str], expires: str, word: str
) -> None:
    commands = Commands("http://127.0.0.1:9")
    commands.environment |= {"XPROF_HUB_DATA_DIR": str(tmp_path / "data"), **variables}
    complaint = commands.complaint("tokens", "create", "x", "--local", "--expires", expires)
    assert word in complaint
    assert len(complaint.splitlines()) == 1


def test_the_client_understands_a_newer_hub(api: Api, hub: Commands) -> None:
    """Fields that this version doesn't know are passed over, not refused."""
    from server.schemas import Run

    hub.lines("runs", "create", "r")
    answer = httpx2.get(f"{api.url}/v1/machineLearningRuns/r").json() | {"newField": 1}
    assert Run.model_validate(answer, extra="ignore").display_name == "r"
