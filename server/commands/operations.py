"""`xprof-hub operations`: what became of changes through the managed API, which are kept a day."""

from __future__ import annotations

from itertools import islice
from typing import Annotated

import typer
from rich.text import Text

from server.commands.console import (
    JsonLinesOption,
    JsonOption,
    LimitOption,
    TokenOption,
    UrlOption,
    connected,
    examples,
    last_part,
    moment,
    print_fields,
    print_json,
    print_list,
    state_text,
)
from server.schemas import Operation

app = typer.Typer(
    help="Operations: what became of changes through the managed API.", no_args_is_help=True
)


@app.command("list", epilog=examples("xprof-hub operations list --limit 20"))
def list_(
    limit: LimitOption = None,
    url: UrlOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
    as_lines: JsonLinesOption = False,
) -> None:
    """List operations of the last day, newest first."""
    with connected(url, token) as client:
        print_list(
            islice(client.operations.list(), limit),
            as_json,
            ("OPERATION", "STATE", "VERB", "TARGET", "CREATED"),
            lambda operation: (
                last_part(operation.name),
                _state(operation),
                operation.verb,
                operation.target,
                moment(operation.create_time),
            ),
            as_lines,
        )


@app.command(epilog=examples("xprof-hub operations show operation-0123456789abcdef"))
def show(
    operation: Annotated[
        str, typer.Argument(metavar="OPERATION", help="Id, as `operations list` shows it.")
    ],
    url: UrlOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Show what became of one change."""
    with connected(url, token) as client:
        found = client.operations.get(last_part(operation))
    if as_json:
        print_json(found)
        return
    print_fields(
        [
            ("Operation", last_part(found.name)),
            ("State", _state(found).plain),
            ("Verb", found.verb),
            ("Target", found.target),
            ("Below", found.parent),
            ("Created", moment(found.create_time)),
        ]
    )


def _state(operation: Operation) -> Text:
    return state_text("done" if operation.done else "running")
