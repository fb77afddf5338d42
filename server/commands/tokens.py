"""`xprof-hub tokens`: make, list, show and revoke API tokens."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import islice
from typing import Annotated

import typer
from pydantic import ValidationError

from auth.identity import Role, create_token
from auth.links import parse_lifetime
from auth.policy import Action
from auth.tokens import API_PREFIX
from server.commands.console import (
    JsonLinesOption,
    JsonOption,
    LimitOption,
    TokenOption,
    UrlOption,
    connected,
    examples,
    fail,
    last_part,
    moment,
    print_fields,
    print_json,
    print_list,
    say,
    state_text,
)
from server.commands.terminal import print_line
from server.names import token_name
from server.schemas import CreatedToken

app = typer.Typer(help="API tokens: how programs sign in.", no_args_is_help=True)


TokenArgument = Annotated[
    str, typer.Argument(metavar="TOKEN", help="Id of the token, as `tokens list` shows it.")
]


@app.command(
    epilog=examples(
        "xprof-hub tokens create 'nightly job' --role ingest --expires 52w",
        "xprof-hub tokens create me --local --role admin",
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
    url: UrlOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Make an API token and print it; it can't be shown again."""
    if local:
        created = _create_locally(name, role, expires)
    else:
        with connected(url, token) as client:
            created = client.tokens.create(name, role, expires)
    if as_json:
        print_json(created)
    else:
        print_line(created.token)


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


def _create_locally(name: str, role: Role, expires: str | None) -> CreatedToken:
    """Makes a token without a running hub; whoever can write its database is its admin anyway."""
    # These load the whole server, which no other command needs.
    from sqlalchemy.exc import SQLAlchemyError

    from server.audit.log import AuditLog, hub_event
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
            say(f"Written into {settings.data_dir / DATABASE_FILE}")
        record, secret = create_token(
            SqlTokenStore(database),
            name=name,
            role=role,
            creator="xprof-hub tokens create --local",
            now=now,
            expires=None if lifetime is None else now + lifetime,
        )
        told = {"displayName": name, "role": role.value}
        action, made = Action.TOKENS_MANAGE.value, token_name(record.id)
        AuditLog(database).write(hub_event("command", action, "create", made, told))
    except (ValueError, OSError, RegistryUnusableError) as problem:
        raise fail(_sentence(problem)) from problem
    except SQLAlchemyError as problem:
        raise fail("the database of XPROF_HUB_DATABASE_URL does not answer.") from problem
    return created_resource(record, secret, now)


def _sentence(problem: Exception) -> str:
    """One line about a problem; a setting's error is a whole report otherwise."""
    if isinstance(problem, ValidationError):
        first = problem.errors()[0]
        name = "_".join(str(part) for part in first["loc"]).upper()
        return f"XPROF_HUB_{name}: {first['msg']}"
    return str(problem)
