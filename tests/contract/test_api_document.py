"""docs/api.md names every operation and every error, with its status."""

from __future__ import annotations

import re
from pathlib import Path

from loader.errors import ErrorCode
from server.app import create_app
from server.http.error_table import status_of
from tests.services.api import api_settings

DOCUMENT = (Path(__file__).parents[2] / "docs" / "api.md").read_text("utf-8")


def test_every_operation_is_listed(tmp_path: Path) -> None:
    paths = create_app(api_settings(tmp_path)).openapi()["paths"]
    real = [f"{method.upper()} {path}" for path, methods in paths.items() for method in methods]
    listed = re.findall(r"^\| `([A-Z]+ /v1/\S+)` \|", DOCUMENT, re.M)
    assert sorted(listed) == sorted(real)


def test_every_error_is_listed_with_its_status() -> None:
    listed = {}
    for reasons, status in re.findall(r"^\| (`\w+`(?:, `\w+`)*) \| (\d{3}) \|", DOCUMENT, re.M):
        listed.update(dict.fromkeys(re.findall(r"\w+", reasons), int(status)))
    assert listed == {code.value: status_of(code) for code in ErrorCode}
