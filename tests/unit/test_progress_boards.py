"""How far an answer is: on the board of one machine, and through the phases of a conversion."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from loader.coordination.progress import ENTRY_SECONDS, DirectoryProgress, Phase, Progress
from loader.coordination.work import Reporter
from loader.errors import ErrorCode, LoaderError
from loader.storage.base import StoredFile
from tests.service_bench import Bench, StandInEngine, make_bench

KEY, OTHER = "a" * 64, "b" * 64


@dataclass
class Board:
    """Keeps all that was posted."""

    posts: list[tuple[str, Progress]] = field(default_factory=list)
    shown: dict[str, Progress] = field(default_factory=dict)

    def post(self, key: str, progress: Progress) -> None:
        self.posts.append((key, progress))
        self.shown[key] = progress

    def clear(self, key: str) -> None:
        self.shown.pop(key, None)

    def read(self, key: str) -> Progress | None:
        return self.shown.get(key)


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not true():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_what_is_posted_is_read_until_it_is_cleared(tmp_path: Path) -> None:
    board, reader = DirectoryProgress(tmp_path), DirectoryProgress(tmp_path)
    progress = Progress(Phase.DOWNLOAD, 1000.5, 2, 120, 300)
    board.post(KEY, progress)
    assert (reader.read(KEY), reader.read(OTHER)) == (progress, None)
    board.clear(KEY)
    board.clear(KEY)
    assert reader.read(KEY) is None


def test_what_a_dead_worker_posted_ends_within_ten_seconds(tmp_path: Path) -> None:
    now = [1000.0]
    board = DirectoryProgress(tmp_path, lambda: now[0])
    board.post(KEY, Progress(Phase.CONVERT, 1000.0))
    now[0] += ENTRY_SECONDS - 1
    assert board.read(KEY) is not None
    now[0] += 2
    assert board.read(KEY) is None
    assert ENTRY_SECONDS < 10
    now[0] += 2 * 3600
    DirectoryProgress(tmp_path, lambda: now[0])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"phase": "lunch"}', b"\xff"])
def test_a_damaged_entry_is_none(tmp_path: Path, content: bytes) -> None:
    board = DirectoryProgress(tmp_path)
    (tmp_path / KEY).write_bytes(content)
    assert board.read(KEY) is None


def test_a_full_disk_costs_no_answer(tmp_path: Path) -> None:
    board = DirectoryProgress(tmp_path / "board")
    (tmp_path / "board").rmdir()
    board.post(KEY, Progress(Phase.CONVERT, 1.0))
    assert board.read(KEY) is None


def test_an_entry_that_cannot_be_cleared_costs_no_answer(tmp_path: Path) -> None:
    board = DirectoryProgress(tmp_path / "board")
    (tmp_path / "board" / KEY).mkdir()
    board.clear(KEY)
    assert board.read(KEY) is None


def test_short_work_posts_nothing() -> None:
    board = Board()
    with Reporter(board, KEY) as reporter:
        reporter.show(Phase.CONVERT)
    assert board.posts == []


def test_the_last_state_is_posted_and_cleared_at_the_end() -> None:
    board = Board()
    with Reporter(board, KEY, lambda: 50.0) as reporter:
        reporter.show(Phase.DOWNLOAD, total_bytes=100)
        for _ in range(6):
            reporter.add(20)
        until(lambda: bool(board.posts))
    assert board.posts == [(KEY, Progress(Phase.DOWNLOAD, 50.0, 0, 100, 100))]
    assert board.shown == {}


def test_who_waits_for_another_shows_how_far_that_one_is() -> None:
    board = Board()
    board.post(OTHER, Progress(Phase.CONVERT, 10.0, 0, 0, 7))
    with Reporter(board, KEY, lambda: 50.0) as reporter:
        reporter.follow(OTHER)
        until(lambda: KEY in board.shown)
        assert board.shown[KEY] == Progress(Phase.CONVERT, 50.0, 0, 0, 7)


def test_who_waits_for_the_same_answer_leaves_the_board_to_its_maker() -> None:
    board = Board()
    with Reporter(board, KEY) as reporter:
        reporter.follow(KEY)
        time.sleep(0.6)
    assert board.posts == []


def test_a_conversion_shows_its_phases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench, board = make_bench(tmp_path), Board()
    monkeypatch.setattr(Bench, "board", lambda _self: board)
    engine = StandInEngine(gate=threading.Event())
    service = bench.service(engine)

    def seen(phase: Phase) -> Callable[[], bool]:
        return lambda: any(progress.phase is phase for _, progress in board.posts)

    def hold(file: StoredFile, _path: Path) -> None:
        if file.name == "b.xplane.pb":
            # The files have 5 and 6 bytes; the first of them is there while the second is held up.
            until(lambda: any((p.done_bytes, p.total_bytes) == (5, 11) for _, p in board.posts))

    bench.files.before = hold
    thread = threading.Thread(target=service.get, args=(bench.request(),))
    thread.start()
    until(seen(Phase.CONVERT))
    assert engine.gate is not None
    engine.gate.set()
    thread.join(20)
    phases = [progress for _, progress in board.posts]
    assert next(progress.phase for progress in phases if progress.total_bytes) is Phase.DOWNLOAD
    assert board.shown == {}
    # Those who wait for the artifact set that is made on the way find it under a key of its own.
    assert len({key for key, _ in board.posts}) == 2


def test_who_waits_in_the_queue_shows_how_many_go_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench, board = make_bench(tmp_path), Board()
    bench.slots = 1
    monkeypatch.setattr(Bench, "board", lambda _self: board)
    engine = StandInEngine(gate=threading.Event())
    service = bench.service(engine)
    threads = []
    for tool in ("memory_profile", "inference_profile", "utilization_viewer"):
        request = bench.request(tool, ("a",))
        threads.append(threading.Thread(target=service.get, args=(request,)))
        threads[-1].start()
        time.sleep(0.3)
    until(lambda: any(progress.ahead == 1 for _, progress in board.posts))
    assert engine.gate is not None
    engine.gate.set()
    for thread in threads:
        thread.join(20)
    waits = [progress for _, progress in board.posts if progress.phase is Phase.WAIT]
    assert {progress.ahead for progress in waits} == {0, 1}


def test_a_failure_clears_the_board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench, board = make_bench(tmp_path), Board()
    monkeypatch.setattr(Bench, "board", lambda _self: board)
    engine = StandInEngine(fail=lambda job: LoaderError(ErrorCode.ENGINE_CRASHED, "on purpose"))
    engine.gate = threading.Event()
    service = bench.service(engine)
    failures: list[LoaderError] = []

    def ask() -> None:
        try:
            service.get(bench.request())
        except LoaderError as error:
            failures.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    until(lambda: bool(board.shown))
    engine.gate.set()
    thread.join(20)
    assert [error.code for error in failures] == [ErrorCode.ENGINE_CRASHED]
    assert board.shown == {}
