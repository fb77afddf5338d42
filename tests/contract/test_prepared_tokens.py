"""A token that is made on one machine and registered on another, which never learns more than its digest."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest

from auth.identity import Role
from tests.contract.api_calls import token_for
from tests.contract.commands import Commands
from tests.services.api import Api, ApiServers

NOWHERE = "http://127.0.0.1:9"
CREATE = ("tokens", "create", "me", "--local", "--role", "admin")


@pytest.fixture
def guarded(api_servers: ApiServers) -> Api:
    return api_servers.get("sqlite", "token")


@pytest.fixture
def beside(guarded: Api) -> Commands:
    """Runs commands where the hub's database is."""
    commands = Commands(NOWHERE)
    commands.environment["XPROF_HUB_DATABASE_URL"] = guarded.settings.resolved_database_url
    return commands


def events_of(api: Api) -> list[dict[str, object]]:
    """The whole audit log."""
    _, secret = token_for(api, Role.ADMIN)
    answer = api.http.get("/auditEvents:export", headers={"Authorization": f"Bearer {secret}"})
    assert answer.status_code == 200, answer.text
    return [json.loads(line) for line in answer.text.splitlines()]


def test_a_prepared_token_works_once_its_digest_is_registered(
    guarded: Api, beside: Commands
) -> None:
    prepared = Commands(NOWHERE).json("tokens", "prepare")
    assert isinstance(prepared, dict)
    token, digest = str(prepared["token"]), str(prepared["digest"])
    assert re.fullmatch(r"xpa_[A-Za-z0-9_-]{43}", token)
    assert digest == hashlib.sha256(token.encode()).hexdigest()
    me = Commands(guarded.url, token)
    assert "API token" in me.complaint("runs", "list", status=4)
    registered = beside.run(*CREATE, "--digest", digest)
    assert (registered.exit_code, registered.stdout) == (0, "")
    assert me.lines("runs", "create", "r")
    (shown,) = json.loads("\n".join(me.lines("tokens", "list", "--json")))
    assert (shown["displayName"], shown["role"]) == ("me", "admin")
    assert f"Registered token {shown['uid']} (me)." in registered.stderr


def test_whoever_prepares_reads_both_and_what_to_do(tmp_path: Path) -> None:
    result = Commands(NOWHERE).run("tokens", "prepare")
    token, digest = (line.split()[1] for line in result.stdout.splitlines())
    assert digest == hashlib.sha256(token.encode()).hexdigest()
    assert "--local --digest" in result.stderr
    again = Commands(NOWHERE).json("tokens", "prepare")
    assert isinstance(again, dict)
    assert again["token"] != token


def test_registering_is_told_in_the_audit_log_and_as_json_without_a_secret(
    guarded: Api, beside: Commands
) -> None:
    digest = hashlib.sha256(b"xpa_x").hexdigest()
    told = beside.json(*CREATE, "--expires", "1d", "--digest", digest)
    assert isinstance(told, dict)
    assert (told["displayName"], told["state"]) == ("me", "ACTIVE")
    assert told["expireTime"]
    assert "token" not in told
    assert digest not in str(told)
    (event,) = events_of(guarded)
    did = (event["actor"], event["action"], event["verb"])
    assert did == ("hub:command", "tokens.manage", "create")
    assert event["details"] == {"displayName": "me", "role": "admin"}


@pytest.mark.parametrize(
    "digest", ["x", "0" * 63, "0" * 65, "A" * 64, "g" * 64, "é" * 64, f"{'0' * 64}\n"]
)
def test_what_is_no_digest_is_refused(guarded: Api, beside: Commands, digest: str) -> None:
    assert "no token's digest" in beside.complaint(*CREATE, "--digest", digest)
    assert events_of(guarded) == []


def test_a_digest_is_registered_once(guarded: Api, beside: Commands) -> None:
    digest = hashlib.sha256(b"xpa_y").hexdigest()
    first = beside.json(*CREATE, "--digest", digest)
    assert isinstance(first, dict)
    complaint = beside.complaint(*CREATE, "--digest", digest)
    assert f"registered before: {first['uid']}" in complaint
    assert len(events_of(guarded)) == 1


def test_a_token_in_place_of_its_digest_is_not_taken(beside: Commands) -> None:
    complaint = beside.complaint(*CREATE, "--digest", "xpa_" + "a" * 43, status=2)
    assert "not the token" in complaint.replace("\n", " ")
    assert "aaaa" not in complaint


def test_a_digest_goes_to_a_database_only(guarded: Api) -> None:
    digest = hashlib.sha256(b"xpa_z").hexdigest()
    asked = ("tokens", "create", "me", "--digest", digest)
    assert "--local" in Commands(guarded.url, "xpa_z").complaint(*asked, status=2)
