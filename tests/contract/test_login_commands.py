"""`login`, `logout` and `whoami` against a hub that asks for tokens, and one that does not."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from auth.identity import Role
from tests.contract.api_calls import token_for
from tests.contract.commands import Commands
from tests.services.api import Api, ApiServers
from tests.services.processes import free_port
from tests.services.scripted import Scripted, ScriptedServer


@pytest.fixture
def guarded(api_servers: ApiServers) -> Api:
    """A hub that asks for tokens."""
    return api_servers.get("sqlite", "token")


@pytest.fixture
def person(tmp_path: Path) -> Commands:
    """Somebody with a home of their own and no variables."""
    return Commands("", config=tmp_path)


def kept(config: Path) -> dict[str, object]:
    answer: dict[str, object] = json.loads((config / "xprof-hub" / "hubs.json").read_text())
    return answer


def test_a_token_that_was_kept_is_used_by_all_commands(
    guarded: Api, person: Commands, tmp_path: Path
) -> None:
    _, secret = token_for(guarded, Role.EDITOR)
    result = person.run("login", f"{guarded.url}/", "--token-stdin", given=f"{secret}\n")
    assert (result.exit_code, result.stdout) == (0, "")
    assert f"Signed in to {guarded.url} as editor (editor)." in result.stderr
    assert secret not in result.stderr
    path = tmp_path / "xprof-hub" / "hubs.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert kept(tmp_path) == {"current": guarded.url, "tokens": {guarded.url: secret}}
    assert person.lines("runs", "create", "r") == ["r"]
    shown = dict(line.split(None, 1) for line in person.lines("whoami"))
    assert shown == {"Hub": guarded.url, "Name": "editor", "Role": "editor", "Token": str(path)}


def test_variables_win_over_the_file(guarded: Api, person: Commands) -> None:
    _, editor = token_for(guarded, Role.EDITOR)
    token_id, viewer = token_for(guarded, Role.VIEWER)
    person.run("login", guarded.url, "--token-stdin", given=editor)
    person.environment["XPROF_HUB_TOKEN"] = viewer
    assert person.json("whoami") == {
        "name": "viewer",
        "id": f"token:{token_id}",
        "role": "viewer",
        "auth": "token",
    }
    person.environment |= {
        "XPROF_HUB_TOKEN": "",
        "XPROF_HUB_URL": f"http://127.0.0.1:{free_port()}",
    }
    person.complaint("whoami", status=5)


def test_every_role_may_ask_who_it_is(guarded: Api) -> None:
    for role in Role:
        token_id, secret = token_for(guarded, role)
        answer = Commands(guarded.url, secret).json("whoami")
        assert answer == {
            "name": role.value,
            "id": f"token:{token_id}",
            "role": role.value,
            "auth": "token",
        }


@pytest.mark.parametrize("given", ["", "\n", "xph_link", "hello", "Bearer xpa_x"])
def test_what_is_no_token_is_not_even_sent(person: Commands, given: str, guarded: Api) -> None:
    result = person.run("login", guarded.url, "--token-stdin", given=given)
    assert result.exit_code == 2
    assert "xpa_" in result.stderr


def test_a_token_that_does_not_work_is_not_kept(
    guarded: Api, person: Commands, tmp_path: Path
) -> None:
    result = person.run("login", guarded.url, "--token-stdin", given=f"xpa_{'x' * 43}")
    assert result.exit_code == 4
    assert "x" * 43 not in result.stderr
    # For who has typed it, and not for who writes a client.
    assert "mistyped, revoked or expired" in result.stderr
    assert "Bearer" not in result.stderr
    assert not (tmp_path / "xprof-hub").exists()


def test_nobody_is_asked_where_nobody_is(guarded: Api, person: Commands) -> None:
    assert "--token-stdin" in person.complaint("login", guarded.url, status=2)


def test_a_hub_without_tokens_asks_for_none(
    api_servers: ApiServers, person: Commands, tmp_path: Path
) -> None:
    api = api_servers.get("sqlite", "dev")
    said = person.said("login", api.url)
    assert f"Signed in to {api.url} as local (admin)." in said
    assert kept(tmp_path) == {"current": api.url, "tokens": {}}
    assert person.lines("runs", "create", "r") == ["r"]
    assert "Token  not needed" in person.lines("whoami")


def test_a_hub_is_forgotten(guarded: Api, person: Commands, tmp_path: Path) -> None:
    _, secret = token_for(guarded, Role.EDITOR)
    person.run("login", guarded.url, "--token-stdin", given=secret)
    said = person.said("logout")
    assert f"Forgot the token of {guarded.url}." in said
    assert kept(tmp_path) == {"current": "", "tokens": {}}
    assert "No token is kept" in person.said("logout", "--all")


def test_a_stranger_at_the_address_gets_no_token(
    scripted: ScriptedServer, person: Commands
) -> None:
    scripted.answers = [Scripted(200, b"<html>Hello</html>")]
    result = person.run("login", scripted.url, "--token-stdin", given="xpa_secret")
    assert result.exit_code == 1
    assert len(scripted.requests) == 1


def test_a_token_without_tls_is_warned_of(
    guarded: Api, person: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Another name of this machine, which is none of the loopback's own.
    monkeypatch.setattr("server.commands.signing_in.LOOPBACK", frozenset[str]())
    _, secret = token_for(guarded, Role.VIEWER)
    result = person.run("login", guarded.url, "--token-stdin", given=secret)
    assert "unencrypted" in result.stderr
