"""scripts/make_venv.sh finds a fitting Python, and says exactly what is missing when there is none.

The machines without one are played by small programs named python3 on a PATH of their own.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "make_venv.sh"


def make_venv(path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs the script with only `path` to find programs in."""
    return subprocess.run(
        ["/bin/sh", SCRIPT, *arguments],
        check=False,
        env={"PATH": str(path)},
        capture_output=True,
        text=True,
        timeout=60,
    )


def add_program(folder: Path, name: str, script: str) -> None:
    program = folder / name
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)


def test_a_fitting_python_makes_the_environment(tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    # An older python3 comes first on many machines; the newer one beside it is taken.
    add_program(programs, "python3", "exit 1")
    (programs / f"python3.{sys.version_info.minor}").symlink_to(os.path.realpath(sys.executable))
    result = make_venv(programs, str(tmp_path / "venv"))
    assert result.returncode == 0, result.stderr
    version = subprocess.run(
        [tmp_path / "venv" / "bin" / "python", "--version"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert f"3.{sys.version_info.minor}." in version.stdout


def test_without_a_fitting_python_it_says_which_are(tmp_path: Path) -> None:
    add_program(tmp_path, "python3", "exit 1")
    result = make_venv(tmp_path, str(tmp_path / "venv"))
    assert result.returncode == 1
    assert "needs Python 3.11, 3.12 or 3.13" in result.stderr
    assert "make PYTHON=" in result.stderr
    assert not (tmp_path / "venv").exists()


def test_a_chosen_python_that_does_not_fit_is_named(tmp_path: Path) -> None:
    add_program(tmp_path, "python2", "exit 1")
    result = make_venv(tmp_path, str(tmp_path / "venv"), str(tmp_path / "python2"))
    assert result.returncode == 1
    assert f"PYTHON={tmp_path}/python2 is no Python 3.11" in result.stderr


@pytest.mark.parametrize("version", ["3.11", "3.13"])
def test_a_python_without_venv_names_the_package(tmp_path: Path, version: str) -> None:
    # Debian's python3 without python3-venv: everything works but `import ensurepip`.
    add_program(
        tmp_path,
        "python3",
        f'case "$2" in *ensurepip*) exit 1;; *print*) echo {version};; esac',
    )
    result = make_venv(tmp_path, str(tmp_path / "venv"))
    assert result.returncode == 1
    assert f"apt-get install python{version}-venv" in result.stderr
