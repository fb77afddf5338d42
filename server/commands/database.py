"""`xprof-hub migrate` and `xprof-hub backup`: the registry's database, with the hub's own settings.

Both work beside running hubs, and need none.
"""

from __future__ import annotations

import json
from pathlib import Path

import typer

from server.commands.exits import ExitStatus
from server.commands.tables import say
from server.registry.backup import copy_sqlite, dump_command, sqlite_file
from server.registry.database import Database
from server.registry.errors import DatabaseUnreachableError, RegistryUnusableError
from server.registry.versions import DatabaseVersion, Standing
from server.settings import Settings


def run_migrate(settings: Settings, *, is_check: bool, as_json: bool) -> ExitStatus:
    """Brings the database up to date, or only looks whether it is.

    Args:
        settings: of the installation.
        is_check: whether to change nothing.
        as_json: whether to print one JSON object.
    """
    if settings.environment == "production" and not settings.database_url:
        say("xprof-hub: XPROF_HUB_DATABASE_URL is not set, so there is nothing to migrate here.")
        return ExitStatus.USAGE
    try:
        database = Database(settings.resolved_database_url)
        try:
            before = database.version() if is_check else database.migrate()
        finally:
            database.close()
    except DatabaseUnreachableError as problem:
        say(f"xprof-hub: {problem}")
        return ExitStatus.UNREACHABLE
    except (RegistryUnusableError, ValueError, OSError) as problem:
        say(f"xprof-hub: {problem}")
        return ExitStatus.FAILED
    if as_json:
        typer.echo(json.dumps(_document(before, is_check=is_check)))
    else:
        say(_sentence(before, is_check=is_check))
    return ExitStatus.FAILED if is_check and not before.is_usable else ExitStatus.DONE


def _document(before: DatabaseVersion, *, is_check: bool) -> dict[str, object]:
    to = before.needed if before.standing is Standing.BEHIND else before.found
    return {"from": before.found, "to": to, "upToDate": before.is_usable or not is_check}


def _sentence(before: DatabaseVersion, *, is_check: bool) -> str:
    found = before.found or "0000, which is without tables,"
    match before.standing:
        case Standing.CURRENT:
            return f"The database is up to date, at version {found}."
        case Standing.AHEAD:
            return (
                f"A newer XProf Hub has brought the database to version {found}. This one, of "
                f"{before.needed}, can go on with it."
            )
        case Standing.TOO_NEW:
            return (
                f"A newer XProf Hub has brought the database to version {found}, and this one, of "
                f"{before.needed}, can't use it."
            )
        case Standing.BEHIND if is_check:
            return f"The database is at version {found} and has to be brought to {before.needed}."
        case Standing.BEHIND:
            return f"The database was brought from version {found} to {before.needed}."


def run_backup(settings: Settings, target: Path, *, as_json: bool) -> ExitStatus:
    """Copies SQLite's file; says which command does it for PostgreSQL.

    Args:
        settings: of the installation.
        target: where the copy is to be; there must be nothing yet.
        as_json: whether to print one JSON object.
    """
    url = settings.resolved_database_url
    source = sqlite_file(url)
    if source is None:
        say(
            "xprof-hub: PostgreSQL is copied by its own program, which works beside running hubs, too:"
        )
        typer.echo(dump_command(url, target))
        return ExitStatus.FAILED
    try:
        size = copy_sqlite(source, target)
    except FileExistsError:
        say(f"xprof-hub: {target} is there already and stays as it is. Choose another name.")
        return ExitStatus.CONFLICT
    except (RegistryUnusableError, OSError) as problem:
        say(f"xprof-hub: {problem}")
        return ExitStatus.FAILED
    if as_json:
        typer.echo(json.dumps({"file": str(target), "bytes": size}))
    else:
        say(f"Copied {source} into {target} ({size} bytes).")
    return ExitStatus.DONE
