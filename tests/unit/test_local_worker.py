"""How long a worker that has ended waits before it is started again."""

from __future__ import annotations

from server.fleet.local_worker import restart_pause


def test_the_pause_doubles_up_to_half_a_minute_while_the_worker_ends_early() -> None:
    pauses = [0.0]
    for _ in range(8):
        pauses.append(restart_pause(pauses[-1], lived=0.5))
    assert pauses[1:] == [1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 30.0]


def test_a_worker_that_has_worked_is_started_at_once() -> None:
    assert restart_pause(30.0, lived=3600.0) == 1.0
