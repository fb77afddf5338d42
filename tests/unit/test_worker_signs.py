"""When a worker counts as silent: not before its patience is over, and never while it answers."""

from __future__ import annotations

from server.fleet.signs import SignsOfLife


class Worker:
    """Answers when a test says so, at a time that the test sets."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.is_well = True
        self.signs = SignsOfLife(lambda: self.is_well, 60.0, lambda: self.now)

    def is_silent_at(self, now: float) -> bool:
        self.now = now
        return self.signs.is_silent()


def test_silence_counts_from_the_last_sign() -> None:
    worker = Worker()
    assert not worker.is_silent_at(1100.0)
    worker.is_well = False
    assert not worker.is_silent_at(1159.0)
    assert worker.is_silent_at(1160.0)


def test_one_answer_ends_the_silence() -> None:
    worker = Worker()
    worker.is_well = False
    assert not worker.is_silent_at(1059.0)
    worker.is_well = True
    assert not worker.is_silent_at(1061.0)
    worker.is_well = False
    assert not worker.is_silent_at(1120.0)
    assert worker.is_silent_at(1121.0)


def test_one_that_begins_has_its_time_to_do_so() -> None:
    worker = Worker()
    worker.is_well = False
    worker.signs.begin(90.0)
    assert not worker.is_silent_at(1149.0)
    assert worker.is_silent_at(1150.0)
