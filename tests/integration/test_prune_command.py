"""`xprof-hub prune`, as an administrator runs it: what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from server.commands.prune import run_prune
from server.registry.database import Database
from server.settings import Settings
from tests.integration.test_prune import NOW, attach


def test_the_command_says_whose_time_is_over_before_it_deletes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url = f"sqlite:///{tmp_path / 'registry.sqlite'}"
    settings = Settings.model_validate({"data_dir": str(tmp_path), "database_url": url})
    database = Database(url)
    database.migrate()
    attach(database, "r/over", expires=NOW)
    attach(database, "r/kept", "/q")
    database.close()
    for is_dry in (True, False):
        assert run_prune(settings, is_dry=is_dry, as_json=False, every_hours=0) == 0
        assert capsys.readouterr().out.splitlines() == ["Sessions over  1", "RUN/SESSION", "r/over"]
    assert run_prune(settings, is_dry=True, as_json=False, every_hours=0) == 0
    assert "Nothing is due." in capsys.readouterr().err
