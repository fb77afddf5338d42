"""deploy/kubernetes/ against checkov's list of weaknesses; exceptions stand in checkov.yaml, with reasons."""

from __future__ import annotations

from pathlib import Path

import yaml

from tests.contract.rendered_manifests import FOLDER, OVERLAYS, manifest_text
from tests.services.scanners import checkov_findings

EXCEPTIONS = FOLDER / "checkov.yaml"


def test_checkov_finds_what_is_excepted_and_nothing_else(tmp_path: Path) -> None:
    for overlay in OVERLAYS:
        (tmp_path / f"{overlay}.yaml").write_text(manifest_text(overlay))
    passed, failed = checkov_findings("kubernetes", ["-d", str(tmp_path)])
    assert passed > 800
    excepted = yaml.safe_load(EXCEPTIONS.read_text())["skip-check"]
    found = {line.split()[0] for line in failed}
    assert found == set(excepted), failed
    by_name = {tuple(line.split(":")[0].split()) for line in failed}
    # Of the hub's own pods only those without a limit of cores stand out.
    unlimited = {name for check, name in by_name if check == "CKV_K8S_11"}
    assert not any("worker" in name for name in unlimited)
    low = {name for check, name in by_name if check == "CKV_K8S_40"}
    assert low == {"Deployment.xprof-hub.postgres", "Deployment.xprof-hub.redis"}


def test_every_exception_has_its_reason() -> None:
    lines = EXCEPTIONS.read_text().splitlines()
    for number, line in enumerate(lines):
        if line.startswith("  - CKV"):
            assert lines[number - 1].startswith("  # "), line
