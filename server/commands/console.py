"""What the client commands share: their options, how they print, and how they fail.

Answers go to standard output and everything else to standard error, so that a script can read the first.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Annotated, TypeAlias, TypeVar

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from server.client import HubClient, HubError
from server.schemas import ApiModel

R = TypeVar("R", bound=ApiModel)
UrlOption: TypeAlias = Annotated[
    str, typer.Option("--url", envvar="XPROF_HUB_URL", help="Address of the hub.")
]
TokenOption: TypeAlias = Annotated[
    str,
    typer.Option(
        "--token",
        envvar="XPROF_HUB_TOKEN",
        help="API token. Better in the variable: others on this machine can read your command line.",
        show_default=False,
    ),
]
JsonOption: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON.")]
YesOption: TypeAlias = Annotated[bool, typer.Option("--yes", "-y", help="Don't ask.")]
RunArgument: TypeAlias = Annotated[str, typer.Argument(metavar="RUN", help="Id of the run.")]
SessionArgument: TypeAlias = Annotated[
    str, typer.Argument(metavar="RUN/SESSION", help="Ids of run and session.")
]


@contextmanager
def connected(url: str, token: str) -> Iterator[HubClient]:
    """A client; a failure becomes a line on standard error and exit status 1."""
    try:
        with HubClient(url, token) as client:
            yield client
    except HubError as problem:
        typer.echo(f"xprof-hub: {problem}", err=True)
        for hint in problem.hints:
            typer.echo(f"  {hint}", err=True)
        raise typer.Exit(1) from problem


def split_session(text: str) -> tuple[str, str]:
    """Run and session of `RUN/SESSION`; neither can hold a slash.

    Raises:
        typer.BadParameter: it is something else.
    """
    run, slash, session = text.partition("/")
    if not (run and slash and session) or "/" in session:
        raise typer.BadParameter("Write it as RUN/SESSION, for example 'my-run/2026_01_31'.")
    return run, session


def split_target(text: str) -> tuple[str, str | None]:
    """Run and session of `RUN/SESSION`, or the run of `RUN` alone, with None.

    Raises:
        typer.BadParameter: it is neither.
    """
    if "/" in text:
        return split_session(text)
    if not text:
        raise typer.BadParameter("Write it as RUN, or as RUN/SESSION.")
    return text, None


def last_part(name: str) -> str:
    """The id at the end of a resource name."""
    return name.rpartition("/")[2]


def confirm(question: str, yes: bool) -> None:
    """Asks before something is lost; a script, which nobody can ask, has decided already."""
    if not yes and sys.stdin.isatty():
        typer.confirm(question, abort=True, err=True)


def print_json(value: ApiModel | Sequence[ApiModel]) -> None:
    """Prints resources as the API names them."""
    plain = _plain(value) if isinstance(value, ApiModel) else [_plain(entry) for entry in value]
    typer.echo(json.dumps(plain, indent=2, ensure_ascii=False))


def _plain(resource: ApiModel) -> dict[str, object]:
    return resource.model_dump(mode="json", by_alias=True, exclude_none=True)


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Prints a table; no cell is ever cut off, and none is taken for markup."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    # A file or a pipe has no width to fit into.
    Console(width=None if sys.stdout.isatty() else 400).print(table)


def print_list(
    found: Sequence[R],
    as_json: bool,
    columns: Sequence[str],
    row_of: Callable[[R], Sequence[str]],
) -> None:
    """Prints resources as JSON, or as a table with one row each."""
    if as_json:
        print_json(found)
    else:
        print_table(columns, [row_of(resource) for resource in found])


def print_fields(fields: Sequence[tuple[str, str]]) -> None:
    """Prints names and values, one a line; empty ones are left out."""
    width = max(len(name) for name, _ in fields)
    for name, value in fields:
        if value:
            typer.echo(f"{name:<{width}}  {value}")


def moment(value: datetime | None, missing: str = "") -> str:
    """A moment to the minute in UTC."""
    return value.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC") if value else missing


def size(count: int) -> str:
    """A number of bytes for people."""
    amount = float(count)
    for unit in ("B", "KiB", "MiB"):
        if amount < 1024:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} GiB"
