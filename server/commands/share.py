"""`xprof-hub share`: make a link to a session or a whole run."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

from server.commands.console import (
    JsonOption,
    TokenOption,
    UrlOption,
    connected,
    examples,
    print_json,
    split_target,
)
from server.commands.terminal import print_line
from server.link_schemas import NewLink
from server.views import NewView, read_state

EXAMPLES = examples(
    "xprof-hub share llama-8b/2026_01_31 --expires 7d --note 'for the review'",
    "xprof-hub share llama-8b",
)

ViewOption: TypeAlias = Annotated[
    str,
    typer.Option(
        metavar="STATE",
        help="What it shows first: an address copied from XProf's page, or the query of one.",
    ),
]


def share(
    target: Annotated[
        str,
        typer.Argument(
            metavar="RUN[/SESSION]",
            help="Ids of run and session; the run's alone shares all its sessions, later ones too.",
        ),
    ],
    expires: Annotated[
        str | None, typer.Option(help="Lifetime: 12h, 7d, 2w or never. The hub's default: 30d.")
    ] = None,
    note: Annotated[str, typer.Option(help="What the link is for.")] = "",
    view: ViewOption = "",
    url: UrlOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Make a link that opens a session, or a whole run, for everybody who has it, and print it."""
    run, session = split_target(target)
    link = NewLink(ttl=expires, note=note, view=read_view(view))
    with connected(url, token) as client:
        created = client.links.create(run, session or "", link)
    if as_json:
        print_json(created)
    else:
        print_line(created.uri)


def read_view(state: str) -> NewView:
    """The view that `--view` means.

    Raises:
        typer.BadParameter: nothing in it can be shown.
    """
    if not state:
        return NewView()
    try:
        return read_state(state)
    except ValueError as problem:
        raise typer.BadParameter(str(problem), param_hint="--view") from problem
