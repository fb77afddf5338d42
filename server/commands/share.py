"""`xprof-hub share`: make a link to a session or a whole run."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

from auth.links import LinkAccess
from server.commands.console import (
    JsonOption,
    TokenOption,
    UrlOption,
    connected,
    examples,
    print_json,
    split_target,
)
from server.commands.passwords import read_new_password
from server.commands.terminal import print_line
from server.links.schemas import MOST_OPENS, NewLink
from server.xprof.views import NewView, read_state

EXAMPLES = examples(
    "xprof-hub share llama-8b/2026_01_31 --expires 7d --note 'for the review'",
    "xprof-hub share llama-8b --access org",
    "xprof-hub share llama-8b/2026_01_31 --redacted --password --most-opens 5",
)

ViewOption: TypeAlias = Annotated[
    str,
    typer.Option(
        metavar="STATE",
        help="What it shows first: an address copied from XProf's page, or the query of one.",
    ),
]
AccessOption: TypeAlias = Annotated[
    LinkAccess | None,
    typer.Option(
        case_sensitive=False,
        help="Whom it lets in: all who have it (unlisted), or of them those only who have signed in (org).",
    ),
]
OpensOption: TypeAlias = Annotated[
    int | None,
    typer.Option(
        min=1, max=MOST_OPENS, help="How many browsers may open it; any number unless set."
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
    access: AccessOption = None,
    password: Annotated[
        bool,
        typer.Option(
            "--password",
            help="Ask for a password, which is typed here, or the first line of standard input.",
        ),
    ] = False,
    most_opens: OpensOption = None,
    redacted: Annotated[
        bool,
        typer.Option(
            "--redacted", help="Show pseudonyms instead of the names and texts of the profile."
        ),
    ] = False,
    note: Annotated[str, typer.Option(help="What the link is for.")] = "",
    view: ViewOption = "",
    url: UrlOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Make a link that opens a session, or a whole run, and print it."""
    run, session = split_target(target)
    link = NewLink(
        ttl=expires,
        note=note,
        view=read_view(view),
        access=access,
        password=read_new_password() if password else None,
        most_opens=most_opens,
        redacted=redacted,
    )
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
