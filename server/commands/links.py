"""`xprof-hub links`: list and revoke share links."""

from __future__ import annotations

from typing import Annotated

import typer

from auth.tokens import LINK_PREFIX
from server.client import DEFAULT_URL
from server.commands.console import (
    JsonOption,
    TokenOption,
    UrlOption,
    connected,
    last_part,
    moment,
    print_json,
    print_list,
)
from server.link_schemas import ShareLink
from server.views import in_words

app = typer.Typer(help="Share links. `xprof-hub share` makes them.", no_args_is_help=True)


@app.command("list")
def list_(
    url: UrlOption = DEFAULT_URL, token: TokenOption = "", as_json: JsonOption = False
) -> None:
    """List links, newest first; a link's address is shown only when it is made."""
    with connected(url, token) as client:
        found = list(client.list_links())
    print_list(
        found,
        as_json,
        ("LINK", "STATE", "TARGET", "VIEW", "EXPIRES", "OPENS", "CREATOR", "NOTE"),
        lambda link: (
            link.uid,
            link.state.lower(),
            _target(link),
            in_words(link.view),
            moment(link.expire_time, "never"),
            str(link.opens),
            link.creator,
            " ".join(link.note.split()),
        ),
    )


def _target(link: ShareLink) -> str:
    """`run/session`, or `run/*` for all sessions of a run."""
    if link.run:
        return f"{link.run.removeprefix('machineLearningRuns/')}/*"
    return link.session.removeprefix("machineLearningRuns/").replace("/profilerSessions/", "/", 1)


@app.command()
def revoke(
    link: Annotated[str, typer.Argument(help="Id of the link, as `links list` shows it.")],
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Revoke a link: it opens nothing any more."""
    if LINK_PREFIX in link:
        # The server keeps no token, so nobody can tell which link this is.
        raise typer.BadParameter("give the link's id, as `xprof-hub links list` shows it")
    with connected(url, token) as client:
        ended = client.revoke_link(last_part(link))
    if as_json:
        print_json(ended)
    else:
        typer.echo(f"Revoked {ended.uid}.", err=True)
