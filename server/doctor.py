"""`xprof-hub doctor`: what works with these settings on this machine, one line each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from uuid import uuid4

import redis
import typer
from sqlalchemy.exc import SQLAlchemyError

from loader.engine.base import engine_version
from loader.engine.rs import find_program
from loader.engine.sandbox import REQUIREMENTS, available_layers, mode_of, unmet
from loader.engine.xprof import check_pinned
from loader.errors import LoaderError
from loader.redis_results import connect
from loader.storage.roots import open_storage
from loader.storage.writing import open_writer
from server.readiness import advice
from server.registry.database import Database
from server.settings import DATABASE_FILE, Settings


@dataclass(frozen=True)
class Finding:
    """One thing that was checked.

    Attributes:
        subject: what it is.
        is_good: whether it works.
        remark: what was found, and what to do when it does not work.
    """

    subject: str
    is_good: bool
    remark: str


def examine(settings: Settings) -> Iterator[Finding]:
    """Checks everything that a front end and a worker need."""
    problems = [
        *settings.problems_with_binding(),
        *settings.problems_with_addresses(),
        *settings.problems_with_people(),
        *settings.problems_with_folders(),
    ]
    is_production = settings.environment == "production"
    for problem in problems + (settings.problems_in_production() if is_production else []):
        yield Finding("settings", False, problem)
    for hint in settings.advice_for_production() if is_production else []:
        yield Finding("settings", True, hint)
    yield _examine_engine(settings)
    yield from _examine_sandbox(settings.sandbox)
    yield _check(
        "database",
        lambda: _ping_database(settings),
        (SQLAlchemyError, ValueError, OSError),
    )
    if settings.redis_url:
        yield _check(
            "redis", lambda: connect(settings.redis_url).ping(), (redis.RedisError, ValueError)
        )
    else:
        yield Finding("redis", True, "not configured; results stay in the data directory")
    if not settings.storage_roots:
        yield Finding("storage", False, "XPROF_HUB_STORAGE_ROOTS is empty: nothing may be read.")
    for root in settings.storage_roots:
        yield _check(f"storage {root}", _list_root(root), (LoaderError, RuntimeError))
    if settings.upload_root:
        subject = f"uploads {settings.upload_root}"
        yield _check(subject, lambda: _try_uploads(settings.upload_root), (LoaderError, OSError))


def _examine_engine(settings: Settings) -> Finding:
    """Which converters there are; the fast engine needs two."""
    try:
        check_pinned()
        if settings.engine == "fast":
            find_program()
    except RuntimeError as problem:
        return Finding("engine", False, str(problem))
    return Finding("engine", True, f"{settings.engine}: {engine_version(settings.engine)}")


def _examine_sandbox(mode: str) -> Iterator[Finding]:
    """Each layer, a missing one bad only when the mode demands it, and what the mode comes to here."""
    layers = available_layers()
    lacking = unmet(REQUIREMENTS[mode], {layer.name for layer in layers if layer.holds})
    wanted = {name for requirement in lacking for name in requirement.split("|")}
    for layer in layers:
        need = "" if layer.name in wanted else f", which {mode} does not need here"
        remark = "holds" if layer.holds else f"does not hold{need}: {layer.detail}"
        yield Finding(f"sandbox {layer.name}", layer.holds or layer.name not in wanted, remark)
    strictest = f"this machine can hold {mode_of(layers)}"
    if lacking:
        yield Finding(f"sandbox mode {mode}", False, f"not met: {strictest}. {advice(layers)}")
    elif mode == "reduced":
        yield Finding("sandbox mode reduced", True, f"anything is accepted; {strictest}")
    else:
        yield Finding(f"sandbox mode {mode}", True, f"met; {strictest}")


def _ping_database(settings: Settings) -> None:
    """A SQLite file that is not there yet is made at the first start, not here."""
    if settings.database_url or (settings.data_dir / DATABASE_FILE).exists():
        Database(settings.resolved_database_url).ping()


def _list_root(root: str) -> Callable[[], object]:
    """Opens and lists a root by itself, so that one that can't be used does not hide the others."""
    return lambda: open_storage([root]).list_folders(root)


def _try_uploads(root: str) -> None:
    """Writes a file where uploads lie, and removes it."""
    writer = open_writer(root)
    draft = writer.begin(f"{writer.root}/.uploads/{uuid4().hex}/doctor")
    draft.write(b"\n")
    writer.remove(draft.finish())


def _check(
    subject: str, call: Callable[[], object], failures: tuple[type[Exception], ...]
) -> Finding:
    try:
        call()
    except failures as problem:
        return Finding(subject, False, str(problem).splitlines()[0])
    return Finding(subject, True, "works")


def print_report(settings: Settings) -> bool:
    """Prints all findings; whether all are good."""
    all_good = True
    for finding in examine(settings):
        all_good &= finding.is_good
        mark = "ok  " if finding.is_good else "FAIL"
        typer.echo(f"{mark}  {finding.subject}: {finding.remark}")
    return all_good
