"""Answers that a worker still has go back to where front ends look, for the time that they have left."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from loader.caches.results import DirectoryResults, ResultHeader, StoredError
from loader.caches.returned_answers import THREAD_NAME, ReturnedAnswers

KEY = "ab" * 32
CONTENT = bytes(range(256)) * 5_000


def until(ready: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not ready():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.01)


def settle() -> None:
    """Waits for what has begun, so that what is not there then was not given back."""
    for thread in threading.enumerate():
        if thread.name == THREAD_NAME:
            thread.join(30)


class Stores:
    """A worker's directory, and another one in the place of Redis."""

    def __init__(self, folder: Path, most: int = len(CONTENT)) -> None:
        self.now = 1000.0
        self.is_failing = False
        self.near = DirectoryResults(folder / "near", 1 << 24, lambda: self.now)
        self.far = DirectoryResults(folder / "far", 1 << 24, lambda: self.now)
        self.body = folder / "body"
        self.body.write_bytes(CONTENT)
        returned = ReturnedAnswers(self.near, self.far, lambda: self.is_failing, most)
        self.look = returned.looking(self.near.open)

    def put(self, seconds: int = 60) -> ResultHeader:
        header = ResultHeader("application/json", len(CONTENT), 9, ("3 of 4 hosts",))
        self.near.put(KEY, header, self.body, seconds)
        return header


@pytest.fixture
def stores(tmp_path: Path) -> Stores:
    return Stores(tmp_path)


def test_an_answer_that_is_found_goes_back_as_it_is(stores: Stores, tmp_path: Path) -> None:
    header = stores.put()
    found = stores.look(KEY)
    assert found is not None and b"".join(found.pieces) == CONTENT
    until(lambda: stores.far.contains(KEY))
    back = stores.far.open(KEY)
    assert back is not None
    assert back.header == header
    assert b"".join(back.pieces) == CONTENT
    until(lambda: not list((tmp_path / "near").glob("*/.*")))


def test_it_goes_back_for_the_time_that_it_has_left(stores: Stores) -> None:
    stores.put(seconds=60)
    stores.now += 50
    stores.look(KEY)
    until(lambda: stores.far.contains(KEY))
    stores.now += 9
    assert stores.far.contains(KEY)
    stores.now += 2
    assert not stores.far.contains(KEY)


def test_nothing_is_begun_where_the_shared_store_is_out_of_order(stores: Stores) -> None:
    stores.put()
    stores.is_failing = True
    assert stores.look(KEY) is not None
    settle()
    stores.is_failing = False
    assert not stores.far.contains(KEY)


def test_what_the_shared_store_does_not_take_is_not_copied_for_it(tmp_path: Path) -> None:
    stores = Stores(tmp_path, most=len(CONTENT) - 1)
    stores.put()
    assert stores.look(KEY) is not None
    settle()
    assert not stores.far.contains(KEY)


def test_failures_do_not_go_back(stores: Stores) -> None:
    error = StoredError("malformed", "ends too early", "vm.xplane.pb")
    stores.near.put(KEY, ResultHeader("application/json", 0, 0, error=error), None, 60)
    assert stores.look(KEY) is not None
    settle()
    assert not stores.far.contains(KEY)


def test_what_is_not_there_is_not_given_back(stores: Stores) -> None:
    assert stores.look(KEY) is None
    stores.near.copy_to(stores.far, KEY)
    assert not stores.far.contains(KEY)


def test_a_shared_answer_stays_as_it_is(stores: Stores, tmp_path: Path) -> None:
    stores.put()
    other = tmp_path / "other"
    other.write_bytes(b"the same answer, packed by another worker")
    header = ResultHeader("application/json", other.stat().st_size, 9)
    stores.far.put(KEY, header, other, 60)
    stores.look(KEY)
    settle()
    kept = stores.far.open(KEY)
    assert kept is not None and kept.header == header
