"""`xprof-hub share`: make a link to a session."""

from __future__ import annotations

from typing import Annotated

import typer

from server.client import DEFAULT_URL
from server.commands.console import (
    JsonOption,
    SessionArgument,
    TokenOption,
    UrlOption,
    connected,
    print_json,
    split_session,
)
from server.schemas import NewLink


def share(
    session: SessionArgument,
    expires: Annotated[
        str | None, typer.Option(help="Lifetime: 12h, 7d, 2w or never. The hub's default: 30d.")
    ] = None,
    note: Annotated[str, typer.Option(help="What the link is for.")] = "",
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Make a link that opens a session for everybody who has it, and print it."""
    run, session_id = split_session(session)
    with connected(url, token) as client:
        created = client.create_link(run, session_id, NewLink(ttl=expires, note=note))
    if as_json:
        print_json(created)
    else:
        typer.echo(created.uri)
