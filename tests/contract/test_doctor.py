"""`xprof-hub doctor` names everything that does not work, in one run, whatever is wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from loader.engine.base import RS_VERSION, XPROF_VERSION
from loader.engine.rs import find_program


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
