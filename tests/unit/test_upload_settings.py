"""Where uploads may lie, and where they are taken without a word about it."""

from __future__ import annotations

from pathlib import Path

import pytest

from server.serve import check_start
from server.settings import Settings


def settings(**values: object) -> Settings:
    return Settings.model_validate(values)


def test_one_machine_keeps_uploads_in_its_data_directory(tmp_path: Path) -> None:
    given = settings(data_dir=tmp_path)
    assert given.readable_roots == ()
    local = given.with_local_uploads()
    assert local.upload_root == str(tmp_path / "uploads")
    assert local.readable_roots == (str(tmp_path / "uploads"),)


def test_a_place_that_was_set_stays(tmp_path: Path) -> None:
    given = settings(data_dir=tmp_path, storage_roots="gs://a/b", upload_root="gs://c/d")
    assert given.with_local_uploads() == given
    assert given.readable_roots == ("gs://a/b", "gs://c/d")


def test_production_takes_no_uploads_unless_it_has_a_place_for_them(tmp_path: Path) -> None:
    given = settings(data_dir=tmp_path, environment="production")
    assert given.with_local_uploads().upload_root == ""


@pytest.mark.parametrize(
    ("root", "is_told"), [("gs://a/b", False), ("/srv/uploads", True), ("", False)]
)
def test_production_is_told_that_a_directory_has_to_be_shared(root: str, is_told: bool) -> None:
    advice = settings(upload_root=root, content_url="https://p.example").advice_for_production()
    assert any("XPROF_HUB_UPLOAD_ROOT" in line for line in advice) == is_told


def test_our_own_files_do_not_lie_where_uploads_are_read(tmp_path: Path) -> None:
    inside = settings(data_dir=tmp_path / "up" / "data", upload_root=str(tmp_path / "up"))
    (problem,) = inside.problems_with_folders()
    assert "XPROF_HUB_DATA_DIR" in problem
    beside = settings(data_dir=tmp_path, upload_root=str(tmp_path / "uploads"))
    assert beside.problems_with_folders() == []


def test_a_front_end_may_have_uploads_only(tmp_path: Path) -> None:
    root = str(tmp_path / "uploads")
    check_start(settings(data_dir=tmp_path, workers="http://w", upload_root=root), "front")
