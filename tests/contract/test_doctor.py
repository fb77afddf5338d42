"""`xprof-hub doctor` names everything that does not work, in one run, whatever is wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from loader.engine.base import RS_VERSION, XPROF_VERSION
from loader.engine.rs import find_program
from server.doctor import examine
from server.settings import Settings


def doctor(env: dict[str, str]) -> tuple[int, dict[str, str]]:
    """Exit status, and the lines by their subject."""
    done = subprocess.run(
        [Path(sys.executable).parent / "xprof-hub", "doctor"],
        env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", "NO_GCE_CHECK": "true", **env},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "Traceback" not in done.stderr
    lines = [line.partition("  ") for line in done.stdout.splitlines()]
    return done.returncode, {rest.strip(): mark.strip() for mark, _, rest in lines}


def marks(lines: dict[str, str], start: str) -> list[str]:
    return [mark for text, mark in lines.items() if text.startswith(start)]


def test_what_cannot_be_used_is_named_and_hides_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "profiles").mkdir()
    status, lines = doctor(
        {
            "XPROF_HUB_DATA_DIR": str(tmp_path / "profiles" / "hub"),
            "XPROF_HUB_DATABASE_URL": "mysql://host/database",
            "XPROF_HUB_REDIS_URL": "nonsense://host",
            "XPROF_HUB_STORAGE_ROOTS": f"ftp://host/x,gs://bucket/x,{tmp_path / 'profiles'}",
        }
    )
    assert status == 1
    assert marks(lines, "settings: XPROF_HUB_DATA_DIR") == ["FAIL"]
    assert marks(lines, "database") == ["FAIL"]
    assert marks(lines, "redis") == ["FAIL"]
    assert marks(lines, "storage ftp://host/x") == ["FAIL"]
    assert marks(lines, "storage gs://bucket/x") == ["FAIL"]
    assert marks(lines, f"storage {tmp_path / 'profiles'}") == ["ok"]
    assert marks(lines, "engine") == ["ok"]


def test_the_engine_is_named_with_its_versions(tmp_path: Path) -> None:
    _, lines = doctor({"XPROF_HUB_DATA_DIR": str(tmp_path)})
    assert lines[f"engine: xprof: xprof-{XPROF_VERSION}"] == "ok"
    _, lines = doctor({"XPROF_HUB_DATA_DIR": str(tmp_path), "XPROF_HUB_ENGINE": "fast"})
    try:
        find_program()
    except RuntimeError:
        assert marks(lines, "engine: XPROF_HUB_ENGINE is fast") == ["FAIL"]
    else:
        assert lines[f"engine: fast: xprof-{XPROF_VERSION}+rs-{RS_VERSION}"] == "ok"


PRODUCTION = {
    "environment": "production",
    "secret_key": "a long enough secret of this test, number 1",
    "auth": "token",
}


def test_a_worker_is_not_asked_for_what_front_ends_need(tmp_path: Path) -> None:
    """It has neither a public address nor a database, and need not write where uploads lie."""
    (tmp_path / "profiles").mkdir()
    (tmp_path / "uploads").mkdir()
    settings = Settings.model_validate(
        {
            **PRODUCTION,
            "data_dir": tmp_path / "data",
            "storage_roots": str(tmp_path / "profiles"),
            "upload_root": str(tmp_path / "uploads"),
        }
    )
    of_worker = list(examine(settings, "worker"))
    subjects = {finding.subject.split(" ")[0] for finding in of_worker}
    assert subjects == {"engine", "sandbox", "redis", "storage", "uploads"}
    assert all(one.is_good for one in of_worker if not one.subject.startswith("sandbox"))
    assert list((tmp_path / "uploads").iterdir()) == []

    lacking = {one.remark.split(" ")[0] for one in examine(settings, "front") if not one.is_good}
    assert lacking == {"XPROF_HUB_DATABASE_URL", "XPROF_HUB_BASE_URL", "XPROF_HUB_WORKERS"}
    assert "engine" not in {one.subject for one in examine(settings, "front")}


def test_a_worker_is_told_of_a_weak_secret_key(tmp_path: Path) -> None:
    settings = Settings.model_validate(
        {**PRODUCTION, "data_dir": tmp_path / "data", "secret_key": "short"}
    )
    (said,) = [one.remark for one in examine(settings, "worker") if one.subject == "settings"]
    assert said.startswith("XPROF_HUB_SECRET_KEY has 5 characters")


def test_no_other_part_is_examined(tmp_path: Path) -> None:
    done = subprocess.run(
        [Path(sys.executable).parent / "xprof-hub", "doctor", "--only", "database"],
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 2
    assert "must be front or worker" in done.stderr
