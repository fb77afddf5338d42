"""The measurement of the page of runs explains itself instead of taking `--help` for a database."""

from __future__ import annotations

import pytest

from bench.runs_page import main


def test_help_is_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    assert "How long the page of runs takes" in capsys.readouterr().out
