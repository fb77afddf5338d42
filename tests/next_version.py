"""A version of XProf Hub that comes after this one: a copy of the packages with one more migration.

It adds a column to runs that fills itself with `calm`; the new version's code writes `keen` into it, and
reads it with every run.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from shutil import copytree, ignore_patterns

from server.registry.versions import version_of_nothing

HERE = Path(__file__).parents[1]
PROGRAM = Path(sys.executable).parent / "xprof-hub"
_COLUMN = '    mood: Mapped[str] = mapped_column(ByteText, server_default="calm", default="keen")\n'
_AFTER = "    run_set: Mapped[str] = mapped_column(ByteText, index=True)\n"
_MIGRATION = '''"""Adds the mood of runs."""

import sqlalchemy as sa
from alembic import op

revision = "{revision}"
down_revision = "{before}"
branch_labels = None
depends_on = None
usable_from = None


def upgrade() -> None:
    kind = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    op.add_column("runs", sa.Column("mood", kind, nullable=False, server_default="calm"))
'''


@dataclass(frozen=True)
class NextVersion:
    """Where it lies.

    Attributes:
        folder: the packages; what runs with this in PYTHONPATH is the next version.
        revision: what its database is brought to.
    """

    folder: Path
    revision: str

    def env(self) -> dict[str, str]:
        """What makes a program of this environment one of the next version."""
        return {"PYTHONPATH": str(self.folder)}


def make_next_version(folder: Path) -> NextVersion:
    """Copies this version into a folder and takes it one step on."""
    for package in ("auth", "loader", "server"):
        copytree(HERE / package, folder / package, ignore=ignore_patterns("__pycache__"))
    before = version_of_nothing().needed
    revision = f"{int(before) + 1:04}"
    registry = folder / "server" / "registry"
    models = (registry / "models.py").read_text()
    assert models.count(_AFTER) == 1
    (registry / "models.py").write_text(models.replace(_AFTER, _AFTER + _COLUMN))
    script = registry / "migrations" / "versions" / f"v{revision}_mood.py"
    script.write_text(_MIGRATION.format(revision=revision, before=before))
    return NextVersion(folder, revision)


def migrate(env: Mapping[str, str]) -> dict[str, object]:
    """Runs `xprof-hub migrate`, as a job does, and returns what it says."""
    command = [str(PROGRAM), "migrate", "--json"]
    done = subprocess.run(command, env=dict(env), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))
