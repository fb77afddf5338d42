"""`xprof-hub open`: a run or session in the browser."""

from __future__ import annotations

from typing import Annotated

import typer

from server.client import HubClient
from server.commands.browser import show_page
from server.commands.console import (
    TokenOption,
    UrlOption,
    connected,
    examples,
    say,
    split_target,
)
from server.commands.terminal import print_line
from server.links.schemas import NewLink

OPEN_EXAMPLES = examples(
    "xprof-hub open llama-8b/2026_01_31",
    "xprof-hub open llama-8b/2026_01_31 --link --expires 1d",
)


def open_(
    target: Annotated[
        str, typer.Argument(metavar="RUN[/SESSION]", help="Ids of run and session, or the run's.")
    ],
    link: Annotated[
        bool,
        typer.Option("--link", help="Open a new link, which works for whoever you send it to."),
    ] = False,
    expires: Annotated[
        str | None, typer.Option(help="With --link, its lifetime: 12h, 7d, 2w or never.")
    ] = None,
    browser: Annotated[
        bool, typer.Option(help="Start a browser; without one the address is only printed.")
    ] = True,
    url: UrlOption = "",
    token: TokenOption = "",
) -> None:
    """Open a run or session in the browser, and print the address."""
    if expires and not link:
        raise typer.BadParameter(
            "It is the lifetime of a link: add --link.", param_hint="--expires"
        )
    run, session = split_target(target)
    with connected(url, token) as client:
        address = (
            client.links.create(run, session or "", NewLink(ttl=expires)).uri
            if link
            else _page(client, run, session)
        )
    print_line(address)
    if browser and not show_page(address):
        say("There is no browser to start here; open the address yourself.")


def _page(client: HubClient, run: str, session: str | None) -> str:
    """Where people who are signed in see it; asked of the hub, which also says whether it exists."""
    if session is None:
        client.runs.get(run)
        return client.run_page(run)
    return client.sessions.get(run, session).dashboard_uri
