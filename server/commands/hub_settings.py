"""The settings of a hub, for commands that work where one runs, and how these say what failed there."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import typer
from pydantic import ValidationError
from sqlalchemy.exc import SQLAlchemyError

from loader.errors import LoaderError
from server.commands.exits import ExitStatus
from server.commands.tables import say
from server.registry.errors import RegistryUnusableError
from server.settings import Settings

Done = TypeVar("Done")


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


def done_where_a_hub_runs(work: Callable[[], Done]) -> Done | ExitStatus:
    """What the work returns; or the exit status, once it is said why storage or registry did not allow it."""
    try:
        return work()
    except LoaderError as problem:
        say(f"xprof-hub: {problem.message}")
        return ExitStatus.FAILED
    except RegistryUnusableError as problem:
        say(f"xprof-hub: {problem}")
        return ExitStatus.FAILED
    except SQLAlchemyError as problem:
        # The driver's own message may repeat the address with its password.
        say(f"xprof-hub: the registry's database does not answer ({type(problem).__name__}).")
        return ExitStatus.UNREACHABLE
