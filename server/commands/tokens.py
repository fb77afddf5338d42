"""`xprof-hub tokens`: make, list, show and revoke API tokens."""

from __future__ import annotations

import json
from itertools import islice
from typing import Annotated

import typer

from auth.identity import Role
from auth.tokens import API_PREFIX, hash_token, new_api_token
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
    state_text,
)
from server.commands.local_tokens import create_locally, register_locally
from server.commands.terminal import print_line

app = typer.Typer(help="API tokens: how programs sign in.", no_args_is_help=True)


TokenArgument = Annotated[
    str, typer.Argument(metavar="TOKEN", help="Id of the token, as `tokens list` shows it.")
]


@app.command(
    epilog=examples(
        "xprof-hub tokens create 'nightly job' --role ingest --expires 52w",
        "xprof-hub tokens create me --local --role admin",
        "xprof-hub tokens create me --local --role admin --digest DIGEST",
    )
)
def create(
    name: Annotated[str, typer.Argument(help="What the token is for.")],
    role: Annotated[Role, typer.Option(help="How much it may do.")] = Role.EDITOR,
    expires: Annotated[
        str | None, typer.Option(help="Lifetime: 12h, 7d, 52w or never. Never unless set.")
    ] = None,
    local: Annotated[
        bool,
        typer.Option(
            "--local",
            help="Write into the hub's own database, as XPROF_HUB_DATABASE_URL or XPROF_HUB_DATA_DIR "
            "name it; for the first token.",
        ),
    ] = False,
    digest: Annotated[
        str,
        typer.Option(
            metavar="DIGEST",
            help="With --local: register the token whose digest `tokens prepare` told; none is printed.",
        ),
    ] = "",
    url: UrlOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Make an API token and print it; it can't be shown again."""
    if digest:
        _register(name, role, expires, digest, is_local=local, as_json=as_json)
        return
    if local:
        created = create_locally(name, role, expires)
    else:
        with connected(url, token) as client:
            created = client.tokens.create(name, role, expires)
    if as_json:
        print_json(created)
    else:
        print_line(created.token)


@app.command(epilog=examples("xprof-hub tokens prepare", "xprof-hub tokens prepare --json"))
def prepare(as_json: JsonOption = False) -> None:
    """Make a token here and print it with its digest; it works once a hub knows the digest. Asks no hub."""
    secret = new_api_token()
    prepared = {"token": secret, "digest": hash_token(secret)}
    if as_json:
        typer.echo(json.dumps(prepared, indent=2))
        return
    print_fields([("Token", prepared["token"]), ("Digest", prepared["digest"])])
    say(
        "Keep the token. Where the hub's database is, 'xprof-hub tokens create NAME --local --digest DIGEST' "
        "lets it in; the digest is no secret."
    )


@app.command("list", epilog=examples("xprof-hub tokens list"))
def list_(
    limit: LimitOption = None,
    url: UrlOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
    as_lines: JsonLinesOption = False,
) -> None:
    """List API tokens, newest first."""
    with connected(url, token) as client:
        print_list(
            islice(client.tokens.list(), limit),
            as_json,
            ("TOKEN", "NAME", "ROLE", "STATE", "CREATED", "EXPIRES"),
            lambda entry: (
                entry.uid,
                entry.display_name,
                entry.role.value,
                state_text(entry.state),
                moment(entry.create_time),
                moment(entry.expire_time, "never"),
            ),
            as_lines,
        )


@app.command(epilog=examples("xprof-hub tokens show 0123456789abcdef"))
def show(
    token_id: TokenArgument,
    url: UrlOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Show an API token by its id; its secret is told only when it is made."""
    with connected(url, token) as client:
        found = client.tokens.get(_id(token_id))
    if as_json:
        print_json(found)
        return
    print_fields(
        [
            ("Token", found.uid),
            ("Name", found.display_name),
            ("Role", found.role.value),
            ("State", found.state.lower()),
            ("Created", moment(found.create_time)),
            ("Creator", found.creator),
            ("Expires", moment(found.expire_time, "never")),
            ("Revoked", moment(found.revoke_time)),
        ]
    )


@app.command(epilog=examples("xprof-hub tokens revoke 0123456789abcdef"))
def revoke(
    token_id: TokenArgument,
    url: UrlOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Revoke an API token: it opens nothing any more."""
    with connected(url, token) as client:
        ended = client.tokens.revoke(_id(token_id))
    if as_json:
        print_json(ended)
    else:
        say(f"Revoked token {ended.uid} ({ended.display_name}): it opens nothing any more.")


def _id(text: str) -> str:
    if API_PREFIX in text:
        # A secret on a command line is one that others have read.
        raise typer.BadParameter("give the token's id, as `xprof-hub tokens list` shows it")
    return last_part(text)


def _register(
    name: str, role: Role, expires: str | None, digest: str, *, is_local: bool, as_json: bool
) -> None:
    """Registers a token by its digest, and tells nothing that opens anything."""
    if not is_local:
        raise typer.BadParameter("goes with --local only", param_hint="--digest")
    if API_PREFIX in digest:
        raise typer.BadParameter(
            "give the digest that `xprof-hub tokens prepare` told, not the token",
            param_hint="--digest",
        )
    registered = register_locally(name, role, expires, digest)
    if as_json:
        print_json(registered)
    else:
        say(f"Registered token {registered.uid} ({registered.display_name}).")
