"""What docs/operations.md starts by hand ("First start") starts in production, and finds each other."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

import pytest

from server.serve import check_start
from server.settings import Settings
from server.start_checks import Part

DOCUMENT = (Path(__file__).resolve().parents[2] / "docs" / "operations.md").read_text("utf-8")
FIRST_STEP = DOCUMENT.partition("\n## First start\n")[2].partition("\n2. ")[0]
SERVE = ["xprof-hub", "serve", "--only"]
MADE_ONCE = {"…": "what-openssl-rand-base64-32-may-have-printed"}
"""What a reader puts in the place of what the document leaves open."""


@dataclass(frozen=True)
class Start:
    """One command of the document that starts a part, and the variables that it has."""

    part: Part
    variables: dict[str, str]


def documented_starts() -> list[Start]:
    """Every start, with what was exported before it."""
    exported: dict[str, str] = {}
    starts: list[Start] = []
    for line in re.findall(r"^ {7}(\S.*)$", FIRST_STEP, re.MULTILINE):
        words = shlex.split(line, comments=True)
        own = dict(word.split("=", 1) for word in words if re.match("XPROF_HUB_[A-Z_]+=", word))
        command = [word for word in words if "=" not in word]
        if command == ["export"]:
            exported |= own
            continue
        assert command[:-1] == SERVE, line
        starts.append(Start("front" if command[-1] == "front" else "worker", exported | own))
    return starts


def settings_of(start: Start, monkeypatch: pytest.MonkeyPatch) -> Settings:
    with monkeypatch.context() as environment:
        for name, value in start.variables.items():
            environment.setenv(name, MADE_ONCE.get(value, value))
        return Settings()


def test_each_part_may_start_in_production(monkeypatch: pytest.MonkeyPatch) -> None:
    starts = documented_starts()
    assert [start.part for start in starts] == ["worker", "worker", "front"]
    for start in starts:
        settings = settings_of(start, monkeypatch)
        assert settings.environment == "production"
        check_start(settings, start.part)


def test_the_front_end_asks_the_workers_and_no_part_shares_a_directory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    *workers, front = [settings_of(start, monkeypatch) for start in documented_starts()]
    assert list(front.workers) == [f"http://{worker.host}:{worker.port}" for worker in workers]
    assert len({settings.data_dir for settings in [*workers, front]}) == 3
    assert front.port not in {worker.port for worker in workers}
    assert not any(worker.database_url for worker in workers), "workers need none"
