"""A front end that may not migrate does not start on tables that it can't work with, and says what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from server.app import create_app
from server.machine.listening import StartError
from server.serve import _build
from tests.migrating import upgrade
from tests.services.api import api_settings


@pytest.mark.parametrize("revision", [None, "0008"])
def test_it_ends_and_names_the_command(tmp_path: Path, revision: str | None) -> None:
    settings = api_settings(tmp_path, migrate=False)
    if revision is not None:
        upgrade(settings.database_url, revision)
    with pytest.raises(StartError, match=r"needs \d+\. Run `xprof-hub migrate`"):
        _build(create_app, settings)
