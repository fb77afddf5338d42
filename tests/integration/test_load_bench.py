"""The load test itself, short: real processes, a few people, a job, one worker; nobody sees an error."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.services.hub import KEPT_VARIABLES
from tests.services.missing import find_program, missing

ROOT = Path(__file__).resolve().parents[2]


def test_people_and_a_job_are_served_and_counted(tmp_path: Path) -> None:
    if find_program(["redis-server", "valkey-server"]) is None:
        missing("redis-server", "redis-server")
    output = tmp_path / "load.json"
    command = [sys.executable, "-m", "bench.load", "--steps", "1", "--sessions", "4"]
    command += ["--people", "3", "--seconds", "8", "--output", str(output)]
    variables = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    ended = subprocess.run(
        command, check=False, cwd=ROOT, env=variables, capture_output=True, text=True, timeout=200
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    (step,) = json.loads(output.read_text())["steps"]
    assert step["errors_seen"] == []
    kinds = {kind: figures["answers"] for kind, figures in step["kinds"].items()}
    assert {"first page", "page", "file", "small", "tools", "overview", "attach", "share"} <= set(
        kinds
    )
    assert all(kinds.values())
    # Whoever has the page asks for its data once, and for at least the two small answers that it names.
    assert kinds["first page"] <= kinds["overview"] <= kinds["page"]
    assert kinds["small"] >= 2 * kinds["first page"]
    # The hub made each overview once, of the four sessions and of those of the job.
    assert 1 <= step["conversions"]["overview_page"] <= 4 + kinds["attach"]
    assert all(step["cpu_seconds"][name] > 0 for name in ("front", "worker-0", "load"))
