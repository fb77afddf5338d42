"""`xprof-hub doctor`: what works with these settings on this machine, one line each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from uuid import uuid4

import redis
import typer
from sqlalchemy.exc import SQLAlchemyError

from loader.caches.redis_results import connect
from loader.engine.base import engine_version
from loader.engine.rs import find_program
from loader.engine.sandbox import REQUIREMENTS, available_layers, mode_of, unmet
from loader.engine.xprof import check_pinned
from loader.errors import LoaderError
from loader.storage.roots import open_storage
from loader.storage.writing import open_writer
from server.registry.database import Database
from server.settings import DATABASE_FILE, Settings
from server.start_checks import Part, problems_of_settings
from server.worker.readiness import advice


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


def examine(settings: Settings, part: Part | None = None) -> Iterator[Finding]:
    """Checks everything that a front end and a worker need, or one of them."""
    is_worker = part == "worker"
    for problem in [*problems_of_settings(settings, part), *settings.problems_with_folders()]:
        yield Finding("settings", False, problem)
    is_public = settings.environment == "production" and not is_worker
    for hint in settings.advice_for_production() if is_public else []:
        yield Finding("settings", True, hint)
    if part != "front":
        yield _examine_engine(settings)
        yield from _examine_sandbox(settings.sandbox)
    if not is_worker:
        yield _check(
            "database",
            lambda: _ping_database(settings),
            (SQLAlchemyError, ValueError, OSError),
        )
    yield from _examine_stores(settings, part)


def _examine_stores(settings: Settings, part: Part | None) -> Iterator[Finding]:
    """Where answers, profiles and uploads lie; of uploads a worker needs to be able to read no more."""
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
        root = settings.upload_root
        attempt = _list_root(root) if part == "worker" else lambda: _try_uploads(root)
        yield _check(f"uploads {root}", attempt, (LoaderError, RuntimeError, OSError))


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


def print_report(settings: Settings, part: Part | None = None) -> bool:
    """Prints all findings about a part, or both; whether all are good."""
    all_good = True
    for finding in examine(settings, part):
        all_good &= finding.is_good
        mark = "ok  " if finding.is_good else "FAIL"
        typer.echo(f"{mark}  {finding.subject}: {finding.remark}")
    return all_good
