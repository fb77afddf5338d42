"""`xprof-hub links`: list, show and revoke share links."""

from __future__ import annotations

from itertools import islice
from typing import Annotated

import typer

from auth.tokens import LINK_PREFIX
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
    say,
    split_target,
    state_text,
)
from server.link_schemas import ShareLink
from server.views import in_words

app = typer.Typer(help="Share links. `xprof-hub share` makes them.", no_args_is_help=True)

LinkArgument = Annotated[
    str, typer.Argument(metavar="LINK", help="Id of the link, as `links list` shows it.")
]


@app.command(
    "list",
    epilog=examples("xprof-hub links list", "xprof-hub links list llama-8b/2026_01_31 --json"),
)
def list_(
    target: Annotated[
        str, typer.Argument(metavar="[RUN[/SESSION]]", help="Only the links to this one.")
    ] = "",
    limit: LimitOption = None,
    url: UrlOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
    as_lines: JsonLinesOption = False,
) -> None:
    """List links, newest first; a link's address is shown only when it is made."""
    run, session = split_target(target) if target else ("", None)
    with connected(url, token) as client:
        print_list(
            islice(client.links.list(run, session or ""), limit),
            as_json,
            ("LINK", "STATE", "TARGET", "VIEW", "EXPIRES", "OPENS", "CREATOR", "NOTE"),
            lambda link: (
                link.uid,
                state_text(link.state),
                _target(link),
                in_words(link.view),
                moment(link.expire_time, "never"),
                str(link.opens),
                link.creator,
                " ".join(link.note.split()),
            ),
            as_lines,
        )


@app.command(epilog=examples("xprof-hub links show 0123456789abcdef"))
def show(
    link: LinkArgument,
    url: UrlOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Show a link by its id."""
    with connected(url, token) as client:
        found = client.links.get(_id(link))
    if as_json:
        print_json(found)
        return
    print_fields(
        [
            ("Link", found.uid),
            ("State", found.state.lower()),
            ("Target", _target(found)),
            ("View", in_words(found.view)),
            ("Created", moment(found.create_time)),
            ("Expires", moment(found.expire_time, "never")),
            ("Revoked", moment(found.revoke_time)),
            ("Opens", str(found.opens)),
            ("Creator", found.creator),
            ("Note", found.note),
        ]
    )


@app.command(epilog=examples("xprof-hub links revoke 0123456789abcdef"))
def revoke(
    link: LinkArgument,
    url: UrlOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Revoke a link: it opens nothing any more."""
    with connected(url, token) as client:
        ended = client.links.revoke(_id(link))
    if as_json:
        print_json(ended)
    else:
        say(f"Revoked link {ended.uid} to {_target(ended)}: it opens nothing any more.")


def _id(text: str) -> str:
    if LINK_PREFIX in text:
        # The server keeps no token, so nobody can tell which link this is.
        raise typer.BadParameter("give the link's id, as `xprof-hub links list` shows it")
    return last_part(text)


def _target(link: ShareLink) -> str:
    """`run/session`, or `run/*` for all sessions of a run."""
    if link.run:
        return f"{link.run.removeprefix('machineLearningRuns/')}/*"
    return link.session.removeprefix("machineLearningRuns/").replace("/profilerSessions/", "/", 1)
