"""API tokens made beside a hub's database, without a running hub.

Whoever can write the database is its admin anyway. What only the server needs is imported when it is used:
the commands that talk to a hub do without.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar

from pydantic import ValidationError

from auth.identity import ApiToken, Role, create_token, register_token
from auth.links import parse_lifetime
from auth.policy import Action
from server.commands.console import fail, say
from server.names import token_name

if TYPE_CHECKING:
    from auth.ports import TokenStore
    from server.schemas import ApiToken as TokenResource
    from server.schemas import CreatedToken

_CREATOR = "xprof-hub tokens create --local"
T = TypeVar("T")


def create_locally(name: str, role: Role, expires: str | None) -> CreatedToken:
    """Makes a token.

    Raises:
        typer.Exit: the lifetime makes no sense, or the database can't be used; said in a sentence.
    """
    from server.routes.tokens import created_resource

    now = datetime.now(UTC)

    def make(store: TokenStore) -> tuple[ApiToken, str]:
        end = _end(expires, now)
        return create_token(store, name=name, role=role, creator=_CREATOR, now=now, expires=end)

    token, secret = _with_store(make, lambda made: made[0])
    return created_resource(token, secret, now)


def register_locally(name: str, role: Role, expires: str | None, digest: str) -> TokenResource:
    """Registers a token by its digest.

    Raises:
        typer.Exit: as `create_locally`, or it is no digest, or was registered before.
    """
    from server.routes.tokens import to_resource

    now = datetime.now(UTC)

    def register(store: TokenStore) -> ApiToken:
        end = _end(expires, now)
        return register_token(
            store, digest, name=name, role=role, creator=_CREATOR, now=now, expires=end
        )

    return to_resource(_with_store(register, lambda token: token), now)


def _with_store(add: Callable[[TokenStore], T], token_of: Callable[[T], ApiToken]) -> T:
    """Adds a token to the hub's database, and writes that down in its audit log."""
    from sqlalchemy.exc import SQLAlchemyError

    from server.audit.log import AuditLog, hub_event
    from server.commands.hub_settings import wrong_settings
    from server.registry.database import Database
    from server.registry.errors import RegistryUnusableError
    from server.registry.tokens import SqlTokenStore
    from server.settings import DATABASE_FILE, Settings

    try:
        settings = Settings()
        database = Database(settings.resolved_database_url)
        database.make_ready(may_migrate=settings.migrate)
        added = add(SqlTokenStore(database))
        token = token_of(added)
        told = {"displayName": token.name, "role": token.role.value}
        action, made = Action.TOKENS_MANAGE.value, token_name(token.id)
        AuditLog(database).write(hub_event("command", action, "create", made, told))
        if not settings.database_url:
            say(f"Written into {settings.data_dir / DATABASE_FILE}")
    except ValidationError as problem:
        raise fail(wrong_settings(problem)[0]) from problem
    except (ValueError, OSError, RegistryUnusableError) as problem:
        raise fail(str(problem)) from problem
    except SQLAlchemyError as problem:
        raise fail("the database of XPROF_HUB_DATABASE_URL does not answer.") from problem
    return added


def _end(expires: str | None, now: datetime) -> datetime | None:
    lifetime = parse_lifetime(expires or "never")
    return None if lifetime is None else now + lifetime
