"""What a hub says when it starts although something is odd."""

from __future__ import annotations

from pathlib import Path

import pytest

from server.serve import check_start
from server.settings import Settings


def test_a_directory_with_profiles_that_is_not_there_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    there, absent = tmp_path / "there", tmp_path / "absent"
    there.mkdir()
    settings = Settings.model_validate(
        {
            "data_dir": tmp_path / "data",
            "workers": "http://w",
            "storage_roots": f"{there},{absent},gs://bucket/profiles",
        }
    )
    check_start(settings, "front")
    (said,) = [record.getMessage() for record in caplog.records]
    assert str(absent) in said
    assert "check the name, or mount it" in said
