"""Which sessions a front end takes on to convert in advance."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from loader.caches.results import DirectoryResults
from loader.catalog import HostFile, SessionFiles
from loader.storage.base import StoredFile
from server.fleet.addresses import WorkerAddresses
from server.fleet.workers import Workers
from server.registry import runs, sessions
from server.registry.database import Database
from server.registry.prewarm import PrewarmState
from server.xprof.prewarm import Prewarmer, PrewarmRules

NOW = datetime(2026, 3, 1, tzinfo=UTC)
FILES = SessionFiles(
    ("/s",),
    tuple(
        HostFile(host, StoredFile(f"/s/{host}.xplane.pb", f"{host}.xplane.pb", 10, "1"))
        for host in ("a", "b")
    ),
)


@pytest.mark.parametrize(
    ("rules", "expected_hosts", "is_wanted", "state"),
    [
        (PrewarmRules(True, 20), None, True, PrewarmState.WAITING),
        (PrewarmRules(True, 20), 2, True, PrewarmState.WAITING),
        (PrewarmRules(True, 19), None, True, PrewarmState.SKIPPED),
        (PrewarmRules(False, 20), None, True, PrewarmState.SKIPPED),
        (PrewarmRules(True, 20), None, False, PrewarmState.SKIPPED),
        (PrewarmRules(True, 20), 3, True, PrewarmState.SKIPPED),
    ],
)
def test_rules(
    rules: PrewarmRules, expected_hosts: int | None, is_wanted: bool, state: PrewarmState
) -> None:
    assert rules.first_state(FILES, expected_hosts, is_wanted) is state


def test_while_enough_sessions_wait_further_ones_are_skipped(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'registry.sqlite'}")
    database.migrate()
    runs.create_run(database, "r", runs.RunChanges(), creator="me", now=NOW)
    new = sessions.NewSession("s", ("/s",), "s", prewarm=PrewarmState.WAITING)
    session = sessions.create_session(database, "r", new, creator="me", now=NOW)
    ended: Counter[PrewarmState] = Counter()

    async def attach() -> None:
        workers = Workers(WorkerAddresses([]), "secret", 60, lambda: None)
        prewarmer = Prewarmer(
            database,
            DirectoryResults(tmp_path / "results", 1 << 20),
            workers,
            "1",
            PrewarmRules(True, 100),
            lambda outcome: ended.update([outcome]),
            most=1,
        )
        assert prewarmer.first_state(FILES, None) is PrewarmState.WAITING
        prewarmer.start(session, FILES)
        assert prewarmer.first_state(FILES, None) is PrewarmState.SKIPPED
        await prewarmer.aclose()
        assert prewarmer.first_state(FILES, None) is PrewarmState.WAITING
        await workers.aclose()

    asyncio.run(attach())
    database.close()
