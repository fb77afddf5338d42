"""The installed command as its own process: at a terminal, in a pipe, and on work that takes a while."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import stat
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from auth.identity import Role
from tests.contract.api_calls import create_run, token_for
from tests.services.api import ApiServers
from tests.services.hub import DemoHub

PROGRAM = Path(sys.executable).parent / "xprof-hub"
COLOURS = re.compile(r"\x1b\[[0-9;]*3[0-9][0-9;]*m")


def variables(config: Path, **more: str) -> dict[str, str]:
    """The environment of a person who has just come."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return kept | {"HOME": str(config), "XDG_CONFIG_HOME": str(config), "TERM": "xterm"} | more


def at_terminal(
    arguments: list[str], environment: Mapping[str, str], typed: Mapping[str, str]
) -> tuple[int, str]:
    """Runs a command at a terminal; returns its exit status and all that was seen there.

    Args:
        arguments: of `xprof-hub`.
        environment: its variables.
        typed: what is typed once a text is seen.
    """
    controller, terminal = pty.openpty()
    process = subprocess.Popen(
        [PROGRAM, *arguments],
        env=dict(environment),
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        start_new_session=True,
    )
    os.close(terminal)
    seen, waiting, deadline = "", dict(typed), time.monotonic() + 60
    while time.monotonic() < deadline:
        ready, _, _ = select.select([controller], [], [], 0.1)
        if ready:
            try:
                piece = os.read(controller, 4096)
            except OSError:  # Linux says so when the other side is closed
                break
            if not piece:
                break
            seen += piece.decode(errors="replace")
        for prompt in [prompt for prompt in waiting if prompt in seen]:
            os.write(controller, f"{waiting.pop(prompt)}\n".encode())
    os.close(controller)
    return process.wait(30), seen


def test_a_token_is_asked_for_and_never_shown(api_servers: ApiServers, tmp_path: Path) -> None:
    api = api_servers.get("sqlite", "token")
    _, secret = token_for(api, Role.EDITOR)
    status, seen = at_terminal(["login", api.url], variables(tmp_path), {"API token: ": secret})
    assert status == 0, seen
    assert secret not in seen
    assert "as editor (editor)" in seen
    path = tmp_path / "xprof-hub" / "hubs.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert json.loads(path.read_text())["tokens"] == {api.url: secret}


@pytest.mark.parametrize(("answer", "is_gone"), [("n", False), ("y", True)])
def test_a_person_is_asked_before_something_is_lost(
    api_servers: ApiServers, tmp_path: Path, answer: str, is_gone: bool
) -> None:
    api = api_servers.get("sqlite", "dev")
    create_run(api, "r")
    environment = variables(tmp_path, XPROF_HUB_URL=api.url)
    _, seen = at_terminal(["runs", "delete", "r"], environment, {"[y/N]": answer})
    assert "Delete run r with its 0 sessions and their links?" in seen
    assert (api.http.get("/machineLearningRuns/r").status_code == 404) == is_gone


def test_colours_are_for_terminals_without_no_color(
    api_servers: ApiServers, tmp_path: Path
) -> None:
    api = api_servers.get("sqlite", "dev")
    create_run(api, "r")
    environment = variables(tmp_path, XPROF_HUB_URL=api.url)
    _, coloured = at_terminal(["runs", "list"], environment, {})
    assert COLOURS.search(coloured)
    _, plain = at_terminal(["runs", "list"], environment | {"NO_COLOR": "1"}, {})
    assert "active" in plain
    assert not COLOURS.search(plain)
    piped = subprocess.run(
        [PROGRAM, "runs", "list"], env=environment, capture_output=True, text=True, check=True
    )
    assert "\x1b" not in piped.stdout
    assert piped.stderr == ""


def test_an_import_shows_how_far_it_is(api_servers: ApiServers, tmp_path: Path) -> None:
    api = api_servers.get("sqlite", "dev")
    root = Path(api.settings.storage_roots[0]) / "library"
    for run in "abcdef":
        session = root / run / "plugins" / "profile" / "2025_01_01_12_00_00"
        session.mkdir(parents=True)
        (session / "h0.xplane.pb").write_bytes(b"profile")
    environment = variables(tmp_path, XPROF_HUB_URL=api.url)
    status, seen = at_terminal(["import", str(root)], environment | {"COLUMNS": "200"}, {})
    assert status == 0, seen
    assert "6 folders looked into: 6 runs, 6 of them new" in seen
    bar = seen[: seen.index("RUN")]
    assert "\u2501" in bar
    piped = subprocess.run(
        [PROGRAM, "import", str(root)], env=environment, capture_output=True, text=True, check=True
    )
    assert "\u2501" not in piped.stdout + piped.stderr


def test_health_is_told_host_by_host(demo_hub: DemoHub, tmp_path: Path) -> None:
    environment = variables(tmp_path, XPROF_HUB_URL=demo_hub.url)
    piped = subprocess.run(
        [PROGRAM, "sessions", "health", "demo/four hosts"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert piped.stderr == ""
    lines = piped.stdout.splitlines()
    assert lines[1] == "Hosts    4, 4 can be shown"
    table = [line.split() for line in lines if line.endswith(" ok")]
    files = sorted(path.name for path in demo_hub.session.glob("*.xplane.pb"))
    assert sorted(row[-2] for row in table) == files
    answered = subprocess.run(
        [PROGRAM, "sessions", "health", "demo/four hosts", "--json"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(answered.stdout)["usableHosts"] == 4


def test_completion_knows_the_commands(tmp_path: Path) -> None:
    environment = variables(
        tmp_path,
        _XPROF_HUB_COMPLETE="complete_bash",
        COMP_WORDS="xprof-hub sessions ",
        COMP_CWORD="2",
    )
    done = subprocess.run(
        [PROGRAM], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert {"attach", "health", "merge", "prewarm", "update"} <= set(done.stdout.split())


def test_a_reader_that_has_enough_is_no_trouble(api_servers: ApiServers, tmp_path: Path) -> None:
    api = api_servers.get("sqlite", "dev")
    for number in range(30):
        create_run(api, f"r{number}")
    done = subprocess.run(
        ["sh", "-c", f"'{PROGRAM}' runs list --jsonl | head -n 1"],
        env=variables(tmp_path, XPROF_HUB_URL=api.url),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert json.loads(done.stdout)["displayName"]
    assert "Traceback" not in done.stderr
