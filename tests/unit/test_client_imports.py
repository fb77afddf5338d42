"""What the client and the commands load: a script that asks a hub for its runs needs no server."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {
    "alembic",
    "fastapi",
    "google",
    "jinja2",
    "numpy",
    "redis",
    "sqlalchemy",
    "starlette",
    "xprof",
}


@pytest.mark.parametrize("module", ["server.client", "server.cli"])
def test_neither_web_framework_nor_database_nor_engine_is_loaded(module: str) -> None:
    code = (
        f"import sys, {module}\n"
        "loaded = {name.split('.')[0] for name in sys.modules}\n"
        f"print(sorted(loaded & {HEAVY!r}))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "[]\n"
