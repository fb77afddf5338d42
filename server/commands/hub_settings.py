"""The settings of a hub, for commands that work where one runs."""

from __future__ import annotations

import typer
from pydantic import ValidationError

from server.settings import Settings


def load_settings() -> Settings:
    """The settings of the environment; a wrong one ends the program with a sentence that names it."""
    try:
        return Settings()
    except ValidationError as problem:
        for error in problem.errors():
            name = "_".join(str(part) for part in error["loc"]).upper()
            typer.echo(f"XPROF_HUB_{name}: {error['msg']}", err=True)
        raise typer.Exit(2) from problem
