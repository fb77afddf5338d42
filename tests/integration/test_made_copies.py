"""The small copies of static files, made by the real command, and by the process beside a server."""

from __future__ import annotations

import fcntl
import gzip
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import brotli
import pytest

from server.asset_copies import copies_in_background
from server.settings import Settings
from server.ui.assets import load_assets
from server.ui.xprof_files import ICON_FONT, find_xprof_static
from tests.services.hub import KEPT_VARIABLES

PATIENCE = 60.0


@pytest.fixture
def settings(tmp_path: Path) -> Iterator[Settings]:
    folder = tmp_path / "made"
    yield Settings.model_validate({"data_dir": tmp_path / "data", "asset_cache": str(folder)})


def _is_locked(folder: Path) -> bool:
    if not (folder / ".lock").exists():
        return False
    with (folder / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def test_the_command_makes_all_that_is_missing_and_no_more(settings: Settings) -> None:
    folder = settings.resolved_asset_cache
    environment = {name: value for name, value in os.environ.items() if name in KEPT_VARIABLES}
    environment["XPROF_HUB_ASSET_CACHE"] = str(folder)
    environment["XPROF_HUB_DATA_DIR"] = str(settings.data_dir)
    command = [sys.executable, "-m", "server.cli", "compress-assets", "--gently"]
    said = [subprocess.check_output(command, env=environment, text=True) for _ in range(2)]

    assets = load_assets(find_xprof_static(), folder)
    assert assets.missing() == []
    assert said[0].startswith("Made ")
    assert said[1].startswith("All static files have their small copies")
    bundle, font = assets.xprof.get("bundle.js"), assets.xprof.get(ICON_FONT)
    assert bundle is not None
    assert font is not None
    assert brotli.decompress(bundle.encodings["br"]) == bundle.body
    assert gzip.decompress(bundle.encodings["gzip"]) == bundle.body
    # What docs/adr/018 promises of them.
    assert len(bundle.encodings["br"]) < 500_000
    assert len(font.body) < 25_000


def test_the_process_beside_a_server_works_and_ends_with_it(settings: Settings) -> None:
    folder = settings.resolved_asset_cache
    assets = load_assets(find_xprof_static(), folder)
    missing = len(assets.missing())
    deadline = time.monotonic() + PATIENCE
    with copies_in_background(settings, assets):
        while len(assets.missing()) == missing and time.monotonic() < deadline:
            time.sleep(0.05)
        assert len(assets.missing()) < missing
    assert not _is_locked(folder)
