"""Runs commands of `xprof-hub` in this process, as a user of one hub."""

from __future__ import annotations

import json
import logging
from pathlib import Path

from typer.testing import CliRunner, Result

from server.cli import app


class Commands:
    """Runs `xprof-hub` with the variables of a user of one API."""

    def __init__(self, url: str, token: str = "", config: Path | None = None) -> None:
        self.environment = {
            "XPROF_HUB_URL": url,
            "XPROF_HUB_TOKEN": token,
            # Nothing of a developer's own.
            "XDG_CONFIG_HOME": str(config or "/nonexistent"),
        }

    def run(self, *arguments: str, given: str | None = None) -> Result:
        """Runs a command; `given` is what stands on its standard input."""
        root = logging.getLogger()
        handlers, level = root.handlers, root.level
        try:
            return CliRunner().invoke(app, arguments, env=self.environment, input=given)
        finally:
            # Some commands have the log go to a standard error that ends with them.
            root.handlers = handlers
            root.setLevel(level)

    def lines(self, *arguments: str) -> list[str]:
        """Standard output of a command that must succeed without complaint."""
        result = self.run(*arguments)
        assert result.exit_code == 0, result.output
        assert result.stderr == ""
        return result.stdout.splitlines()

    def json(self, *arguments: str) -> object:
        """What a command answers with `--json`."""
        return json.loads("\n".join(self.lines(*arguments, "--json")))

    def said(self, *arguments: str) -> str:
        """Standard error of a command that must succeed and answer nothing."""
        result = self.run(*arguments)
        assert (result.exit_code, result.stdout) == (0, ""), result.output
        return result.stderr

    def complaint(self, *arguments: str, status: int = 1) -> str:
        """Standard error of a command that must fail with this exit status, having printed nothing else."""
        result = self.run(*arguments)
        assert result.exit_code == status, result.output
        assert result.stdout == ""
        return result.stderr
