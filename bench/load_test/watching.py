"""What the processes of a fleet use and keep, looked at from outside: memory, files, threads, keys, rows."""

from __future__ import annotations

import os
import sqlite3
import subprocess
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import psutil
import redis

from bench.load_test.fleet import Fleet

TABLES_THAT_STAY = (
    "leases",
    "operations",
    "requests",
    "leftovers",
    "looks",
    "attempts",
    "browser_sessions",
)
"""Tables in which nothing of this load may remain; others have a row for each session that a job attaches."""
MEGABYTE = 1e6
_LASTING_SECONDS = 20.0
"""A child that has lived longer is one that stays, not one that converts."""
_SCANNED = 1000


def cpu_seconds(pid: int) -> float:
    """User and system time of a process, of the children that it has waited for, and of those that live."""
    try:
        process = psutil.Process(pid)
        total = sum(process.cpu_times()[:4])
        children = process.children(recursive=True)
    except psutil.NoSuchProcess:
        return 0.0
    for child in children:
        try:
            total += sum(child.cpu_times()[:4])
        except psutil.NoSuchProcess:
            continue  # Ended since the list was made: its parent has its time now.
    return total


def machine_cpu_seconds() -> float:
    """Processor time of everything on this machine so far."""
    times = psutil.cpu_times()
    return float(times.user + times.system + getattr(times, "nice", 0.0))


def look_at(fleet: Fleet, now: float) -> dict[str, float]:
    """One look at everything, by name.

    Args:
        fleet: whose processes run.
        now: seconds since 1970.
    """
    found: dict[str, float] = {}
    for name, process in fleet.processes().items():
        found |= {f"{name}: {what}": value for what, value in _process(process, now).items()}
    found |= _redis(fleet.redis_url)
    for name in fleet.processes():
        if name != "redis":
            found[f"{name}: data MB"] = folder_megabytes(fleet.data_folder(name))
    jobs = [fleet.data_folder(f"worker-{number}") / "scratch/jobs" for number in fleet.workers]
    found["workers: job folders"] = sum(
        sum(1 for _ in folder.iterdir()) for folder in jobs if folder.is_dir()
    )
    found["artifacts MB"] = folder_megabytes(fleet.folder / "artifacts")
    return found | {f"rows: {table}": rows for table, rows in _rows(fleet.registry).items()}


def _process(process: subprocess.Popen[bytes], now: float) -> Mapping[str, float]:
    """A server's own figures, and those of its children together."""
    found = {"MB": 0.0, "files": 0.0, "threads": 0.0, "processes": 0.0, "lasting children MB": 0.0}
    try:
        own = psutil.Process(process.pid)
        with own.oneshot():
            found["MB"] = own.memory_info().rss / MEGABYTE
            found["files"], found["threads"] = own.num_fds(), own.num_threads()
        children = own.children(recursive=True)
    except psutil.NoSuchProcess:
        return {}
    found["processes"] = 1 + len(children)
    for child in children:
        try:
            if now - child.create_time() > _LASTING_SECONDS:
                found["lasting children MB"] += child.memory_info().rss / MEGABYTE
        except psutil.NoSuchProcess:
            continue  # It has just ended.
    return found


def _redis(url: str) -> Mapping[str, float]:
    """Keys, those without an end among them, leases that are held, and memory."""
    with redis.Redis.from_url(url, socket_timeout=10) as client:
        names = list(client.scan_iter(count=_SCANNED))
        pipeline = client.pipeline(transaction=False)
        for name in names:
            pipeline.ttl(name)
        ends = pipeline.execute()
        used = client.info("memory")["used_memory"]
    return {
        "redis: keys": len(names),
        "redis: keys without end": sum(end == -1 for end in ends),
        "redis: leases": sum(name.startswith(b"xprof-hub:lease:") for name in names),
        "redis: held MB": used / MEGABYTE,
    }


def folder_megabytes(folder: Path) -> float:
    """What the files below a folder hold; what goes while it is looked at counts nothing."""
    total = 0
    # Unlike `Path.rglob`, this passes over folders that are gone when their turn comes.
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(place) / name).stat().st_size
            except FileNotFoundError:
                continue  # A job's file, gone since it was listed.
    return total / MEGABYTE


def _rows(registry: Path) -> Mapping[str, int]:
    """Rows of the tables that are there."""
    with closing(sqlite3.connect(f"file:{registry}?mode=ro", uri=True, timeout=30)) as connection:
        names = {
            str(name)
            for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        }
        return {
            table: int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
            for table in sorted(names.intersection(TABLES_THAT_STAY))
        }
