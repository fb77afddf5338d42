"""Where small copies of static files lie, and who may make them."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from server import settings as settings_module
from server.asset_copies import copies_in_background
from server.settings import Settings
from server.ui.assets import Asset, AssetFolder, Assets


@pytest.fixture
def settings(tmp_path: Path) -> Iterator[Settings]:
    yield Settings.model_validate({"data_dir": tmp_path / "data"})


def test_copies_lie_beside_the_packages_if_there_are_some(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = tmp_path / "share"
    monkeypatch.setattr(settings_module, "INSTALLED_ASSETS", installed)
    assert settings.resolved_asset_cache == tmp_path / "data" / "assets"
    installed.mkdir()
    assert settings.resolved_asset_cache == installed


def test_nothing_is_started_when_nothing_is_missing(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = AssetFolder({}, tmp_path)
    assets = Assets(empty, empty, Asset("text/html", b"", '"tag"'))

    def start(*_arguments: object, **_more: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(subprocess, "Popen", start)
    with copies_in_background(settings, assets):
        pass
    some = AssetFolder({"a.js": b"let answer = 42;\n" * 100}, tmp_path)
    lacking = Assets(some, empty, Asset("text/html", b"", '"tag"'))
    with (
        pytest.raises(AssertionError, match="was started"),
        copies_in_background(settings, lacking),
    ):
        pass
