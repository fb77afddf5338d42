"""Programs that look for known weaknesses in terraform, Dockerfiles and manifests.

They lie in an environment of their own (`make test` makes it), and are told to ask nobody.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_SECONDS = 180


def scanner(name: str) -> Path:
    """A scanner's program; without it CI fails, and elsewhere the test is skipped."""
    program = ROOT / os.environ.get("SCANNERS", ".venv-scanners") / "bin" / name
    if not program.exists():
        reason = f"{name} is not installed. Get it with: make test, which makes .venv-scanners"
        if os.environ.get("CI"):
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason)
    return program


def checkov_findings(framework: str, arguments: Sequence[str]) -> tuple[int, list[str]]:
    """What checkov says: how many checks passed, and what failed, as `check resource: name`.

    Args:
        framework: `dockerfile`, `kubernetes` or `terraform`.
        arguments: what to look at, `-f FILE` or `-d FOLDER`, and which checks to leave out.
    """
    command = [str(scanner("checkov")), "--framework", framework, "--output", "json"]
    command += ["--compact", "--quiet", "--skip-download", *arguments]
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, timeout=_SECONDS, cwd=ROOT
    )
    assert done.returncode in (0, 1), done.stderr
    report = json.loads(done.stdout)
    failed = [
        f"{row['check_id']} {row['resource']}: {row['check_name']}"
        for row in report["results"]["failed_checks"]
    ]
    assert not report["summary"]["parsing_errors"], done.stdout
    return report["summary"]["passed"], sorted(failed)
