"""The image's definition against the rules of hadolint and checkov; exceptions stand beside their reasons."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from tests.services.scanners import ROOT, checkov_findings, scanner

SKIPPED = re.compile(r"#\s*(checkov:skip|hadolint ignore)=(\S+?):? +(\S.*)?$", re.MULTILINE)


def hadolint(path: Path) -> subprocess.CompletedProcess[str]:
    command = [str(scanner("hadolint")), "--config", str(ROOT / ".hadolint.yaml"), str(path)]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)


def test_hadolint_finds_nothing_not_even_in_style() -> None:
    done = hadolint(ROOT / "Dockerfile")
    assert (done.returncode, done.stdout) == (0, "")


def test_hadolint_would_find_something(tmp_path: Path) -> None:
    text = (ROOT / "Dockerfile").read_text()
    changed = tmp_path / "Dockerfile"
    changed.write_text(text.replace("WORKDIR /build", "WORKDIR build\nRUN sudo true", 1))
    found = hadolint(changed)
    assert found.returncode == 1
    assert "DL3000" in found.stdout  # a relative folder
    assert "DL3004" in found.stdout  # sudo


def test_checkov_finds_nothing() -> None:
    passed, failed = checkov_findings("dockerfile", ["-f", "Dockerfile"])
    assert failed == []
    assert passed > 50


def test_checkov_would_find_something(tmp_path: Path) -> None:
    text = (ROOT / "Dockerfile").read_text()
    changed = tmp_path / "Dockerfile"
    changed.write_text(text.replace("USER 10001:10001", "USER root"))
    _, failed = checkov_findings("dockerfile", ["-f", str(changed)])
    assert [line.split()[0] for line in failed] == ["CKV_DOCKER_8"]


def test_exceptions_have_reasons() -> None:
    exceptions = SKIPPED.findall((ROOT / "Dockerfile").read_text())
    assert [rule for _, rule, _ in exceptions] == ["CKV_DOCKER_7"]
    assert all(len(reason) > 20 for _, _, reason in exceptions)
