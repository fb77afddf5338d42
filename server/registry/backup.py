"""A copy of the registry's database while hubs work on it.

SQLite is copied here, by its own means: a plain copy of the file lacks what its log beside it holds, and may
be half of one state and half of another. PostgreSQL has `pg_dump`, which is only named here.
"""

from __future__ import annotations

import os
import shlex
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from sqlalchemy import URL, make_url

from server.registry.errors import RegistryUnusableError

_BUSY_SECONDS = 10
_SECRET_OPTIONS = ("password", "sslpassword")
"""What libpq also takes behind the question mark, and nobody shall read in a terminal."""


def sqlite_file(url: str) -> Path | None:
    """Where the database is, if it is a SQLite file."""
    parts = make_url(url)
    return Path(parts.database or "") if parts.get_backend_name() == "sqlite" else None


def dump_command(url: str, target: Path) -> str:
    """The command that copies a PostgreSQL database into a file; it asks for a password if it needs one."""
    full = make_url(url)
    shown = full.difference_update_query(_SECRET_OPTIONS)
    address = URL.create(
        "postgresql", full.username, None, full.host, full.port, full.database, shown.query
    )
    text = address.render_as_string()
    return shlex.join(["pg_dump", "--format=custom", f"--file={target}", f"--dbname={text}"])


def copy_sqlite(source: Path, target: Path) -> int:
    """Copies a database as it is at one moment, while others read and write; the copy's bytes.

    The copy appears whole or not at all, readable for its owner alone.

    Raises:
        FileExistsError: there is something at the target, which stays as it is.
        OSError: the target's folder can't be written.
        RegistryUnusableError: there is no database, or it or its copy is damaged.
    """
    if not source.is_file():
        raise RegistryUnusableError(f"There is no database at {source}.")
    if target.exists():
        raise FileExistsError(f"{target} is there already")
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".backup-") as folder:
        draft = Path(folder) / "copy"
        try:
            _copy(source, draft)
        except sqlite3.Error as problem:
            raise RegistryUnusableError(f"{source} can't be copied: {problem}.") from problem
        draft.chmod(0o600)
        _flush(draft)
        # Unlike a rename, this fails where somebody else has put a file meanwhile.
        os.link(draft, target)
    _flush(target.parent)
    return target.stat().st_size


def _copy(source: Path, draft: Path) -> None:
    with (
        closing(sqlite3.connect(f"{source.absolute().as_uri()}?mode=rw", uri=True)) as old,
        closing(sqlite3.connect(draft)) as new,
    ):
        old.execute(f"PRAGMA busy_timeout={_BUSY_SECONDS * 1000}")
        # All pages at once are one read of one state; in pieces it would begin anew after each write.
        old.backup(new, pages=-1)
        found = new.execute("PRAGMA quick_check").fetchone()[0]
        if found != "ok":
            raise sqlite3.DatabaseError(f"its copy is damaged: {found}")
        # Then the file is whole by itself, without a log beside it; the next hub turns that on again.
        new.execute("PRAGMA journal_mode=DELETE")


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
