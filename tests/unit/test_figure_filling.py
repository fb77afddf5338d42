"""When figures are made, how urgently, and when not again: with a real registry, storage and connection."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import anyio
import pytest
import zstandard

from loader.caches.results import DirectoryResults, ResultHeader
from loader.catalog import SessionFiles, digest_of, list_session
from loader.errors import ErrorCode
from loader.plan import plan_for
from loader.storage.roots import open_storage
from server.figures.collecting import MOST_BYTES, Collector, figure_requests
from server.figures.filling import Figures
from server.figures.freshness import Standing, Wish, has_work, standing_of
from server.fleet.addresses import WorkerAddresses
from server.fleet.workers import Workers
from server.registry import runs, sessions
from server.registry.database import Database
from server.registry.prewarm import PrewarmState
from server.registry.records import ProfilerSession, SessionState
from server.registry.summaries import FigureState, SessionSummary, get_summary
from server.xprof.prewarm import PrewarmRules
from tests.worker_servers import Server, error, http

NOW = datetime(2026, 3, 1, tzinfo=UTC)
ENGINE = "xprof test"
ON, OFF = PrewarmRules(True, 1000), PrewarmRules(False, 1000)
TOOLS = ["overview_page", "pod_viewer", "framework_op_stats", "memory_profile"]
STEP = {"podStatsPerCore": {"0": {"hostName": "a", "totalDurationUs": 2500}}}
PODS = json.dumps({"podStatsSequence": {"podStatsMap": [STEP]}}).encode()


def packed(body: bytes) -> tuple[ResultHeader, bytes]:
    content = zstandard.compress(body)
    return ResultHeader("application/json", len(content), len(body)), content


def answer(body: bytes = PODS) -> bytes:
    """A worker's answer; the same for every tool."""
    header, content = packed(body)
    return http(200, header.to_bytes() + content)


@dataclass
class Parts:
    """What a test works with.

    Attributes:
        figures: what is tested.
        worker: stands for the workers.
        database: the registry.
        results: finished answers.
        session: a session of two hosts.
        folder: its folder.
    """

    figures: Figures
    worker: Server
    database: Database
    results: DirectoryResults
    session: ProfilerSession
    folder: Path

    @property
    def files(self) -> SessionFiles:
        """Its files as they are."""
        return list_session(open_storage((str(self.folder.parent),)), self.session.locations)

    def summary(self) -> SessionSummary | None:
        """What is kept."""
        return get_summary(self.database, self.session.uid)

    async def ask(self, wish: Wish, session: ProfilerSession | None = None) -> None:
        """Asks with the files, which goes round the pause between looks, and waits until it is done."""
        self.figures.ask(session or self.session, wish, self.files)
        for _ in range(2):
            await asyncio.sleep(0)
        async with asyncio.timeout(20):
            while not self.figures.is_idle:
                await asyncio.sleep(0.01)

    def asked(self) -> list[tuple[object, object]]:
        """Tools that the worker was asked for since the last call, with the urgency."""
        bodies, self.worker.bodies = self.worker.bodies, []
        return [(body["tool"], body["urgency"]) for body in bodies]


@asynccontextmanager
async def parts_in(folder: Path, rules: PrewarmRules) -> AsyncIterator[Parts]:
    place = folder / "profiles" / "s"
    place.mkdir(parents=True)
    for host in ("a", "b"):
        (place / f"{host}.xplane.pb").write_bytes(b"0123456789")
    database = Database(f"sqlite:///{folder / 'registry.sqlite'}")
    database.migrate()
    runs.create_run(database, "r", runs.RunChanges(), creator="me", now=NOW)
    new = sessions.NewSession("s", (str(place),), "s")
    session = sessions.create_session(database, "r", new, creator="me", now=NOW)
    worker = Server()
    worker.answer = answer()
    results = DirectoryResults(folder / "results", 1 << 20)
    async with await asyncio.start_server(worker.handle, "127.0.0.1", 0) as listening:
        port = listening.sockets[0].getsockname()[1]
        workers = Workers(WorkerAddresses([f"http://127.0.0.1:{port}"]), "x", 60, lambda: None)
        limiter = anyio.CapacityLimiter(4)
        collector = Collector(results, workers, ENGINE, limiter)
        storage = open_storage((str(place.parent),))
        figures = Figures(database, storage, collector, rules, limiter)
        figures.start()
        yield Parts(figures, worker, database, results, session, place)
        await figures.aclose()
        await workers.aclose()
    database.close()


def run(
    folder: Path, rules: PrewarmRules, test: Callable[[Parts], Coroutine[None, None, None]]
) -> None:
    async def inside() -> None:
        async with parts_in(folder, rules) as parts:
            await test(parts)

    asyncio.run(inside())


def test_figures_are_made_after_people_and_once(tmp_path: Path) -> None:
    async def test(parts: Parts) -> None:
        await parts.ask(Wish.MADE)
        assert parts.asked() == [(tool, "prewarm") for tool in TOOLS]
        found = parts.summary()
        assert found is not None
        assert found.figures is not None
        assert found.figures.step_times_ms == (2.5,)
        assert [(host.name, host.bytes) for host in found.hosts] == [("a", 10), ("b", 10)]
        assert (found.total_bytes, found.digest) == (20, digest_of(parts.files.hosts))
        for wish in Wish:
            await parts.ask(wish)
        assert parts.asked() == []

    run(tmp_path, ON, test)


def test_a_changed_file_makes_new_figures(tmp_path: Path) -> None:
    async def test(parts: Parts) -> None:
        await parts.ask(Wish.MADE)
        (parts.folder / "c.xplane.pb").write_bytes(b"0")
        parts.asked()
        await parts.ask(Wish.MADE)
        assert len(parts.asked()) == len(TOOLS)
        found = parts.summary()
        assert found is not None
        assert found.host_count == 3

    run(tmp_path, ON, test)


def test_who_waits_is_served_whatever_the_rules(tmp_path: Path) -> None:
    async def test(parts: Parts) -> None:
        await parts.ask(Wish.MADE)
        assert parts.asked() == []
        found = parts.summary()
        assert found is not None
        assert (found.total_bytes, found.figures) == (20, None)
        await parts.ask(Wish.NEEDED)
        assert parts.asked() == [(tool, "person") for tool in TOOLS]
        assert standing_of(parts.summary(), digest_of(parts.files.hosts)) is Standing.READY

    run(tmp_path, OFF, test)


@pytest.mark.parametrize(
    "change",
    [
        lambda session: replace(session, prewarm=PrewarmState.CANCELLED.value),
        lambda session: replace(session, state=SessionState.OPEN),
        lambda session: replace(session, expected_hosts=3),
    ],
    ids=["cancelled", "open", "incomplete"],
)
def test_what_must_not_be_converted_in_advance_is_not(
    tmp_path: Path, change: Callable[[ProfilerSession], ProfilerSession]
) -> None:
    async def test(parts: Parts) -> None:
        await parts.ask(Wish.MADE, change(parts.session))
        await parts.ask(Wish.KEPT)
        assert parts.asked() == []

    run(tmp_path, ON, test)


def test_what_is_kept_is_read_without_a_worker(tmp_path: Path) -> None:
    async def test(parts: Parts) -> None:
        header, content = packed(PODS)
        (tmp_path / "body").write_bytes(content)
        for tool, request in figure_requests(parts.files):
            if tool == "pod_viewer":
                key = plan_for(parts.files, ENGINE, request).key
                parts.results.put(key, header, tmp_path / "body", 60)
        await parts.ask(Wish.KEPT)
        found = parts.summary()
        assert found is not None
        assert found.figures is not None
        assert found.figures.average_step_ms == 2.5
        assert standing_of(found, digest_of(parts.files.hosts)) is Standing.PENDING
        assert parts.asked() == []

    run(tmp_path, ON, test)


def test_a_damaged_profile_is_asked_about_once(tmp_path: Path) -> None:
    async def test(parts: Parts) -> None:
        parts.worker.answer = error(422, ErrorCode.MALFORMED)
        await parts.ask(Wish.NEEDED)
        found = parts.summary()
        assert found is not None
        assert standing_of(found, found.digest) is Standing.FAILED
        assert "pod_viewer: why" in found.state.problem
        assert len(parts.asked()) == len(TOOLS)
        await parts.ask(Wish.NEEDED)
        assert parts.asked() == []

    run(tmp_path, ON, test)


def test_a_busy_worker_is_no_failure_of_the_session(tmp_path: Path) -> None:
    async def test(parts: Parts) -> None:
        parts.worker.answer = error(503, ErrorCode.BUSY)
        await parts.ask(Wish.NEEDED)
        found = parts.summary()
        assert found is not None
        assert standing_of(found, found.digest) is Standing.PENDING
        assert found.state.problem == "why"

    run(tmp_path, ON, test)


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[" * 100_000, b"1" * 10_000, b" " * (MOST_BYTES + 1)]
)
def test_answers_that_are_none_leave_gaps(tmp_path: Path, body: bytes) -> None:
    async def test(parts: Parts) -> None:
        parts.worker.answer = answer(body)
        await parts.ask(Wish.NEEDED)
        found = parts.summary()
        assert found is not None
        assert standing_of(found, found.digest) is Standing.FAILED
        assert found.state.problem

    run(tmp_path, ON, test)


def test_one_session_is_looked_at_once_at_a_time(tmp_path: Path) -> None:
    async def test(parts: Parts) -> None:
        for _ in range(50):
            parts.figures.ask(parts.session)
        await parts.ask(Wish.MADE)
        for _ in range(50):
            parts.figures.ask(parts.session)
        await asyncio.sleep(0.05)
        assert len(parts.asked()) == len(TOOLS)

    run(tmp_path, ON, test)


def test_asking_at_the_end_does_nothing(tmp_path: Path) -> None:
    async def test(parts: Parts) -> None:
        parts.worker.answer = None
        parts.figures.ask(parts.session)
        await asyncio.sleep(0.05)
        await parts.figures.aclose()
        assert parts.figures.is_idle
        parts.figures.ask(parts.session)
        await asyncio.sleep(0.05)
        assert parts.figures.is_idle

    run(tmp_path, ON, test)


def summary(state: FigureState) -> SessionSummary:
    return SessionSummary("d", (), 0, None, NOW, state)


@pytest.mark.parametrize(
    ("known", "wish", "after", "expected"),
    [
        (None, Wish.KEPT, 0, True),
        (summary(FigureState()), Wish.KEPT, 0, True),
        (summary(FigureState(ENGINE)), Wish.NEEDED, 1_000_000, False),
        (summary(FigureState("an older one")), Wish.MADE, 0, True),
        (summary(FigureState(problem="busy")), Wish.MADE, 299, False),
        (summary(FigureState(problem="busy")), Wish.MADE, 301, True),
        (summary(FigureState(problem="busy")), Wish.NEEDED, 16, True),
        (summary(FigureState(ENGINE, "damaged", True)), Wish.NEEDED, 299, False),
        (summary(FigureState(ENGINE, "damaged", True)), Wish.NEEDED, 301, True),
        (summary(FigureState(ENGINE, "damaged", True)), Wish.MADE, 86_399, False),
        (summary(FigureState(ENGINE, "damaged", True)), Wish.MADE, 86_401, True),
    ],
)
def test_when_it_is_time_to_look(
    known: SessionSummary | None, wish: Wish, after: int, expected: bool
) -> None:
    now = NOW + timedelta(seconds=after)
    assert has_work(known, "d", ENGINE, wish, now) is expected
    assert has_work(known, "other files", ENGINE, wish, now)
