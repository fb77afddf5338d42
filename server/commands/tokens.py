"""`xprof-hub tokens`: make, list and revoke API tokens."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer
from pydantic import ValidationError

from auth.identity import Role, create_token
from auth.links import parse_lifetime
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
from server.schemas import CreatedToken

app = typer.Typer(help="API tokens: how programs sign in.", no_args_is_help=True)


@app.command()
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
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Make an API token and print it; it can't be shown again."""
    if local:
        created = _create_locally(name, role, expires)
    else:
        with connected(url, token) as client:
            created = client.create_token(name, role, expires)
    if as_json:
        print_json(created)
    else:
        typer.echo(created.token)


@app.command("list")
def list_(
    url: UrlOption = DEFAULT_URL, token: TokenOption = "", as_json: JsonOption = False
) -> None:
    """List API tokens, newest first."""
    with connected(url, token) as client:
        found = list(client.list_tokens())
    print_list(
        found,
        as_json,
        ("TOKEN", "NAME", "ROLE", "STATE", "CREATED", "EXPIRES"),
        lambda entry: (
            entry.uid,
            entry.display_name,
            entry.role.value,
            entry.state.lower(),
            moment(entry.create_time),
            moment(entry.expire_time, "never"),
        ),
    )


@app.command()
def revoke(
    token_id: Annotated[
        str, typer.Argument(metavar="TOKEN", help="Id of the token, as `tokens list` shows it.")
    ],
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Revoke an API token: it opens nothing any more."""
    with connected(url, token) as client:
        ended = client.revoke_token(last_part(token_id))
    if as_json:
        print_json(ended)


def _create_locally(name: str, role: Role, expires: str | None) -> CreatedToken:
    """Makes a token without a running hub; whoever can write its database is its admin anyway."""
    # These load the whole server, which no other command needs.
    from sqlalchemy.exc import SQLAlchemyError

    from server.registry.database import Database
    from server.registry.errors import RegistryUnusableError
    from server.registry.tokens import SqlTokenStore
    from server.routes.tokens import created_resource
    from server.settings import DATABASE_FILE, Settings

    now = datetime.now(UTC)
    try:
        lifetime = parse_lifetime(expires or "never")
        settings = Settings()
        database = Database(settings.resolved_database_url)
        database.migrate()
        if not settings.database_url:
            typer.echo(f"Written into {settings.data_dir / DATABASE_FILE}", err=True)
        record, secret = create_token(
            SqlTokenStore(database),
            name=name,
            role=role,
            creator="xprof-hub tokens create --local",
            now=now,
            expires=None if lifetime is None else now + lifetime,
        )
    except (ValueError, OSError, RegistryUnusableError) as problem:
        typer.echo(f"xprof-hub: {_sentence(problem)}", err=True)
        raise typer.Exit(1) from problem
    except SQLAlchemyError as problem:
        typer.echo("xprof-hub: the database of XPROF_HUB_DATABASE_URL does not answer.", err=True)
        raise typer.Exit(1) from problem
    return created_resource(record, secret, now)


def _sentence(problem: Exception) -> str:
    """One line about a problem; a setting's error is a whole report otherwise."""
    if isinstance(problem, ValidationError):
        first = problem.errors()[0]
        name = "_".join(str(part) for part in first["loc"]).upper()
        return f"XPROF_HUB_{name}: {first['msg']}"
    return str(problem)
