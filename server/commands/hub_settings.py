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
        for sentence in wrong_settings(problem):
            typer.echo(sentence, err=True)
        raise typer.Exit(2) from problem


def wrong_settings(problem: ValidationError) -> list[str]:
    """What is wrong with which setting, a line each; the problem's own words are a whole report."""
    return [
        f"XPROF_HUB_{'_'.join(str(part) for part in error['loc']).upper()}: {error['msg']}"
        for error in problem.errors()
    ]
