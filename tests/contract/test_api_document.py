"""docs/api.md names every operation and every error, with its status."""

from __future__ import annotations

import re
from pathlib import Path

from fastapi import FastAPI

from loader.errors import ErrorCode
from server.error_table import status_of
from server.routes import (
    audit_events,
    callers,
    comparisons,
    discovery,
    ingest,
    links,
    members,
    operations,
    run_groups,
    runs,
    session_health,
    session_merges,
    session_prewarm,
    sessions,
    sharing_rules,
    tokens,
    uploads,
)

DOCUMENT = (Path(__file__).parents[2] / "docs" / "api.md").read_text("utf-8")


def test_every_operation_is_listed() -> None:
    app = FastAPI()
    for module in (
        ingest,
        runs,
        run_groups,
        discovery,
        sessions,
        session_health,
        session_merges,
        session_prewarm,
        comparisons,
        members,
        audit_events,
        links,
        sharing_rules,
        operations,
        tokens,
        callers,
        uploads,
    ):
        app.include_router(module.router)
    real = {
        f"{method.upper()} {path}"
        for path, methods in app.openapi()["paths"].items()
        for method in methods
    }
    assert set(re.findall(r"^\| `([A-Z]+ /v1\S+)` \|", DOCUMENT, re.M)) == real


def test_every_error_is_listed_with_its_status() -> None:
    listed = {}
    for reasons, status in re.findall(r"^\| (`\w+`(?:, `\w+`)*) \| (\d{3}) \|", DOCUMENT, re.M):
        listed.update(dict.fromkeys(re.findall(r"\w+", reasons), int(status)))
    assert listed == {code.value: status_of(code) for code in ErrorCode}
