"""`xprof-hub runs`: create, list, show and delete runs."""

from __future__ import annotations

from typing import Annotated

import typer

from server.client import DEFAULT_URL
from server.commands.console import (
    JsonOption,
    RunArgument,
    TokenOption,
    UrlOption,
    YesOption,
    confirm,
    connected,
    last_part,
    moment,
    print_fields,
    print_json,
    print_list,
)
from server.schemas import Run

app = typer.Typer(help="Runs: what profiles belong to.", no_args_is_help=True)


@app.command()
def create(
    run: RunArgument,
    name: Annotated[str, typer.Option(help="Name for people; the id unless set.")] = "",
    label: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="May be given several times.")
    ] = None,
    run_set: Annotated[str, typer.Option(help="Group of runs.")] = "",
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Create a run."""
    body = Run(display_name=name or run, labels=_labels(label or []), run_set=run_set)
    with connected(url, token) as client:
        created = client.create_run(body, run)
    if as_json:
        print_json(created)
    else:
        typer.echo(last_part(created.name))


@app.command("list")
def list_(
    condition: Annotated[
        str, typer.Option("--filter", help="""For example: runSet = "llama".""")
    ] = "",
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """List runs, newest first."""
    with connected(url, token) as client:
        found = list(client.list_runs(condition))
    print_list(
        found,
        as_json,
        ("RUN", "NAME", "SET", "CREATOR", "CREATED"),
        lambda run: (
            last_part(run.name),
            run.display_name,
            run.run_set,
            run.creator,
            moment(run.create_time),
        ),
    )


@app.command()
def show(
    run: RunArgument,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Show a run."""
    with connected(url, token) as client:
        found = client.get_run(run)
    if as_json:
        print_json(found)
        return
    labels = ", ".join(f"{key}={value}" for key, value in sorted(found.labels.items()))
    print_fields(
        [
            ("Run", last_part(found.name)),
            ("Name", found.display_name),
            ("Set", found.run_set),
            ("Labels", labels),
            ("Creator", found.creator),
            ("Created", moment(found.create_time)),
            ("Changed", moment(found.update_time)),
        ]
    )


@app.command()
def delete(
    run: RunArgument,
    yes: YesOption = False,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Delete a run with its sessions and links; profiles in storage stay."""
    confirm(f"Delete run {run} with its sessions and links?", yes)
    with connected(url, token) as client:
        client.delete_run(run)
    if as_json:
        typer.echo("{}")


def _labels(pairs: list[str]) -> dict[str, str]:
    labels = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not (key and equals):
            raise typer.BadParameter(f"{pair!r} is not KEY=VALUE.", param_hint="--label")
        labels[key] = value
    return labels
