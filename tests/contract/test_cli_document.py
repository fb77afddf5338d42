"""docs/cli.md is what the commands say of themselves, and every command says enough."""

from __future__ import annotations

import re
from pathlib import Path

from server.cli import app
from server.commands.exits import MEANINGS, ExitStatus
from server.commands.reference import command_reference

DOCUMENT = (Path(__file__).parents[2] / "docs" / "cli.md").read_text("utf-8")
TALKS_TO_A_HUB = re.compile(r"^Also .*`--url`", re.M)


def sections() -> dict[str, str]:
    parts = re.split(r"^## (.+)$", command_reference(app), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_the_document_is_made_from_the_commands() -> None:
    assert command_reference(app) == DOCUMENT, (
        "run: python -m server.commands.reference > docs/cli.md"
    )


def test_every_command_that_talks_to_a_hub_has_an_example() -> None:
    for name, text in sections().items():
        if TALKS_TO_A_HUB.search(text):
            examples = re.findall(r"^    (.+)$", text, re.M)[1:]
            assert examples, name
            assert all("xprof-hub" in example for example in examples), name


def test_every_option_and_argument_is_explained() -> None:
    assert not re.findall(r"^\| .+ \| *(?:Default.*)?\|$", DOCUMENT, re.M)


def test_every_exit_status_is_documented() -> None:
    assert set(MEANINGS) == set(ExitStatus)
    for status in ExitStatus:
        assert f"| {int(status)} | " in DOCUMENT


def test_every_command_that_answers_can_answer_json() -> None:
    without = {"xprof-hub login", "xprof-hub logout", "xprof-hub open"}
    for name, text in sections().items():
        if TALKS_TO_A_HUB.search(text) and name not in without:
            assert "`--json`" in text, name
