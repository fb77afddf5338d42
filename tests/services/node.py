"""Google's Node client of the managed API, run as a program against a hub."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from tests.services.hub import KEPT_VARIABLES
from tests.services.missing import find_program, missing

_FOLDER = Path(__file__).parents[1] / "clients" / "node"

NodeClient: TypeAlias = Callable[[str, str, str], dict[str, Any]]
"""Runs the client against a hub, with a token and a folder of profiles; what it printed."""


@pytest.fixture(scope="session")
def node_client() -> NodeClient:
    """The client, as `scripts/test_services.sh` installs it."""
    node = find_program(("node", "nodejs"))
    if node is None:
        missing("Node.js", "nodejs npm")
    if not (_FOLDER / "node_modules").is_dir():
        missing("Google's client for Node.js", "nodejs npm")

    def run(hub_url: str, token: str, folder: str) -> dict[str, Any]:
        variables = {key: os.environ[key] for key in KEPT_VARIABLES if key in os.environ}
        hub = {"HUB_URL": hub_url, "HUB_TOKEN": token, "HUB_FOLDER": folder}
        done = subprocess.run(
            [node, _FOLDER / "managed.cjs"],
            env={**variables, **hub},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        answers: dict[str, Any] = json.loads(done.stdout)
        return answers

    return run
