"""`xprof-hub links`: list, show, change and revoke share links."""

from __future__ import annotations

from itertools import islice
from typing import Annotated

import typer
from pydantic import JsonValue

from auth.tokens import LINK_PREFIX, read_link_token
from server.client import HubClient
from server.commands.changes import EtagOption
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
    short_name,
    split_target,
    state_text,
)
from server.commands.passwords import read_new_password
from server.commands.share import AccessOption, OpensOption
from server.links.schemas import LinkChange, ShareLink
from server.xprof.views import in_words

app = typer.Typer(help="Share links. `xprof-hub share` makes them.", no_args_is_help=True)

LinkArgument = Annotated[
    str,
    typer.Argument(
        metavar="LINK", help="Id of the link, as `links list` shows it, or its whole address."
    ),
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
            ("LINK", "STATE", "TARGET", "TERMS", "VIEW", "EXPIRES", "OPENS", "CREATOR", "NOTE"),
            lambda link: (
                link.uid,
                state_text(_state(link)),
                _target(link),
                ", ".join(filter(None, (_asks(link), _shows(link)))),
                in_words(link.view),
                moment(link.expire_time, "never"),
                _opens(link),
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
    """Show a link."""
    with connected(url, token) as client:
        found = client.links.get(_id(client, link))
    if as_json:
        print_json(found)
        return
    print_fields(
        [
            ("Link", found.uid),
            ("State", found.state.lower()),
            ("Opens nothing", _forbidden(found)),
            ("Target", _target(found)),
            ("Asks for", _asks(found)),
            ("Shows", _shows(found)),
            ("View", in_words(found.view)),
            ("Created", moment(found.create_time)),
            ("Expires", moment(found.expire_time, "never")),
            ("Revoked", moment(found.revoke_time)),
            ("Opens", _opens(found)),
            ("Creator", found.creator),
            ("Note", found.note),
        ]
    )


@app.command(
    epilog=examples(
        "xprof-hub links update 0123456789abcdef --expires 14d --note 'until the release'",
        "xprof-hub links update 0123456789abcdef --access org --no-password",
        "xprof-hub links update 0123456789abcdef --any-opens",
    )
)
def update(
    link: LinkArgument,
    expires: Annotated[
        str | None, typer.Option(help="Lifetime from now: 12h, 7d, 2w or never.")
    ] = None,
    access: AccessOption = None,
    password: Annotated[
        bool | None,
        typer.Option(
            "--password/--no-password",
            help="Ask for a new password, which is typed here, or the first line of standard input.",
        ),
    ] = None,
    most_opens: OpensOption = None,
    any_opens: Annotated[
        bool, typer.Option("--any-opens", help="Let it be opened any number of times.")
    ] = False,
    note: Annotated[str | None, typer.Option(help="What the link is for.")] = None,
    etag: EtagOption = "",
    url: UrlOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Change what a link asks for and when it ends; counts at once, for open pages too."""
    if any_opens and most_opens is not None:
        raise typer.BadParameter("--most-opens and --any-opens can't both be.")
    given: dict[str, JsonValue] = {
        "ttl": expires,
        "access": access.value if access else None,
        "password": read_new_password() if password else None,
        "mostOpens": most_opens,
        "note": note,
    }
    sent = {name: value for name, value in given.items() if value is not None}
    taken_off = {"password": password is False, "mostOpens": any_opens}
    mask = [*sent, *(name for name, is_off in taken_off.items() if is_off)]
    if not mask:
        raise typer.BadParameter("Say what to change, for example --expires 14d.")
    with connected(url, token) as client:
        changes = LinkChange.model_validate(sent)
        changed = client.links.update(_id(client, link), changes, mask, etag=etag)
    if as_json:
        print_json(changed)
    else:
        say(f"Changed link {changed.uid} to {_target(changed)}.")


@app.command(
    epilog=examples(
        "xprof-hub links revoke 0123456789abcdef",
        "xprof-hub links revoke https://xprof.example.org/s/xph_...",
    )
)
def revoke(
    link: LinkArgument,
    url: UrlOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Revoke a link: it opens nothing any more."""
    with connected(url, token) as client:
        ended = client.links.revoke(_id(client, link))
    if as_json:
        print_json(ended)
    else:
        say(f"Revoked link {ended.uid} to {_target(ended)}: it opens nothing any more.")


def _id(client: HubClient, text: str) -> str:
    """The id of the link that somebody names: by that, by its resource name, its token or its address.

    Raises:
        typer.BadParameter: no link has this token.
    """
    if LINK_PREFIX not in text:
        return last_part(text)
    token = read_link_token(text)
    found = client.links.find(token) if token else None
    if found is None:
        raise typer.BadParameter("this hub has no link with this address; was it cut off?")
    return found.uid


def _asks(link: ShareLink) -> str:
    """What it asks for, besides its address."""
    asked = {"sign-in": link.access == "ORG", "password": link.has_password}
    return ", ".join(words for words, is_asked in asked.items() if is_asked)


def _shows(link: ShareLink) -> str:
    return "pseudonyms" if link.redacted else ""


def _opens(link: ShareLink) -> str:
    return str(link.opens) if link.most_opens is None else f"{link.opens} of {link.most_opens}"


def _state(link: ShareLink) -> str:
    """What has ended stays so, whatever the rules say of it now."""
    return "FORBIDDEN" if link.forbidden and link.state == "ACTIVE" else link.state


def _forbidden(link: ShareLink) -> str:
    """Why it opens nothing though nobody has ended it."""
    return f"not allowed any more ({link.forbidden})" if link.forbidden else ""


def _target(link: ShareLink) -> str:
    """`run/session`, or `run/*` for all sessions of a run."""
    if link.run:
        return f"{short_name(link.run)}/*"
    return short_name(link.session)
