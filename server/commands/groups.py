"""`xprof-hub groups`: how long the sessions of groups of runs are kept, and what they store."""

from __future__ import annotations

from typing import Annotated

import typer

from server.commands.console import (
    JsonLinesOption,
    JsonOption,
    TokenOption,
    UrlOption,
    connected,
    examples,
    moment,
    print_fields,
    print_json,
    print_list,
    say,
)
from server.schemas.groups import RunGroup
from server.ui.words import size

app = typer.Typer(help="Run groups: how long sessions are kept.", no_args_is_help=True)

GroupArgument = Annotated[
    str, typer.Argument(metavar="GROUP", help="What the runs' --run-set says.")
]
_PREFIX = "runGroups/"


@app.command("list", epilog=examples("xprof-hub groups list"))
def list_(
    url: UrlOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
    as_lines: JsonLinesOption = False,
) -> None:
    """List the groups with what their sessions store."""
    with connected(url, token) as client:
        print_list(
            client.groups.list(),
            as_json,
            ("GROUP", "RUNS", "SESSIONS", "SIZE", "SESSIONS KEPT", "NOTE"),
            lambda group: (
                _id(group),
                str(group.run_count or 0),
                str(group.session_count or 0),
                size(group.total_bytes or 0),
                _kept(group),
                group.note,
            ),
            as_lines,
        )


@app.command(epilog=examples("xprof-hub groups show llama"))
def show(
    group: GroupArgument,
    url: UrlOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Show one group."""
    with connected(url, token) as client:
        found = client.groups.get(group)
    if as_json:
        print_json(found)
        return
    print_fields(
        [
            ("Group", _id(found)),
            ("Runs", str(found.run_count or 0)),
            ("Sessions", str(found.session_count or 0)),
            ("Size", size(found.total_bytes or 0)),
            ("Sessions kept", _kept(found)),
            ("Note", found.note),
            ("Changed", moment(found.update_time)),
            ("Changed by", found.updater),
        ]
    )


@app.command(
    epilog=examples(
        "xprof-hub groups update llama --days 90 --note 'kept for a quarter'",
        "xprof-hub groups update llama --days 0",
        "xprof-hub groups update audited --hold",
    )
)
def update(
    group: GroupArgument,
    days: Annotated[
        int | None,
        typer.Option(min=0, max=36_500, help="Days that a session is kept; 0: without end."),
    ] = None,
    hold: Annotated[
        bool | None,
        typer.Option("--hold/--no-hold", help="Whether nobody may delete anything in it."),
    ] = None,
    note: Annotated[str | None, typer.Option(help="For people.")] = None,
    url: UrlOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Say how long a group's sessions are kept; it may be a group that no run is in yet."""
    given = {"sessionDays": days, "held": hold, "note": note}
    mask = [name for name, value in given.items() if value is not None]
    if not mask:
        raise typer.BadParameter("Say what to change: --days, --hold, --no-hold or --note.")
    body = RunGroup(session_days=days or None, held=hold, note=note or "")
    with connected(url, token) as client:
        changed = client.groups.update(group, body, mask, allow_missing=True)
    if as_json:
        print_json(changed)
    else:
        say(f"Sessions of group {group} are kept {_kept(changed)}.")


def _id(group: RunGroup) -> str:
    return group.name.removeprefix(_PREFIX)


def _kept(group: RunGroup) -> str:
    days = group.session_days
    plain = "without end" if days is None else f"{days} day" if days == 1 else f"{days} days"
    return f"{plain} (held)" if group.held else plain
