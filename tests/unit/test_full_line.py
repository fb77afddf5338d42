"""A line that is full: who is sent away, what they are told, and what an operator reads of it."""

from __future__ import annotations

import itertools
import pickle
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from prometheus_client import CollectorRegistry

from loader.errors import ErrorCode, LoaderError
from loader.turns.admission import Admission
from loader.turns.order import Urgency
from loader.turns.pace import Pace, seconds_to_come_back
from server.fleet.protocol import ErrorBody
from server.metrics.admission import AdmissionMetrics
from tests.unit.test_admission import Applicant, Observer


class Line:
    """An admission with one slot that is held, and whoever the test lets stand in line."""

    def __init__(self, most_waiting: int, pool: ThreadPoolExecutor) -> None:
        self.now = 0.0
        self.observer = Observer()
        self.admission = Admission(
            1, 100, 1e9, self.observer, clock=lambda: self.now, most_waiting=most_waiting
        )
        self._pool = pool
        self._numbers = itertools.count()

    def wait(self, urgency: Urgency = Urgency.PERSON) -> tuple[Applicant, Future[None]]:
        """Lets one more wait for the slot."""
        applicant = Applicant(urgency, session=f"session {next(self._numbers)}")
        waiting = self._pool.submit(self.convert, applicant)
        assert applicant.waits.wait(20)
        return applicant, waiting

    def convert(self, applicant: Applicant) -> None:
        with self.admission.enter(applicant, 10):
            pass

    def refusal(self, urgency: Urgency = Urgency.PERSON) -> LoaderError:
        """What one more is told."""
        with pytest.raises(LoaderError) as caught, self.admission.enter(Applicant(urgency), 10):
            pass
        return caught.value


@contextmanager
def held(most_waiting: int) -> Iterator[Line]:
    with ThreadPoolExecutor(16) as pool:
        line = Line(most_waiting, pool)
        with line.admission.enter(Applicant(session="first"), 10):
            yield line


def test_who_comes_to_a_full_line_is_told_at_once_how_many_go_first_and_when_to_come() -> None:
    with held(most_waiting=2) as line:
        waiting = [line.wait()[1] for _ in range(2)]
        refused = line.refusal()
        assert (refused.code, refused.ahead) == (ErrorCode.BUSY, 2)
        # One converts and two wait; 5 s each as long as nothing is known, and half of them are 7.5 s.
        assert refused.retry_after == 8
    for each in waiting:
        each.result(20)
    assert line.observer.refusals == ["queue_full"]


def test_a_free_slot_takes_no_place_in_the_line() -> None:
    admission = Admission(2, 100, 60, most_waiting=0)
    with admission.enter(Applicant(session="a"), 10), admission.enter(Applicant(session="b"), 10):
        pass


def test_nobody_waits_where_nobody_may() -> None:
    with held(most_waiting=0) as line:
        assert line.refusal().ahead == 0


def test_a_person_takes_the_place_of_work_ahead_of_time() -> None:
    with held(most_waiting=2) as line:
        _, person = line.wait()
        _, ahead = line.wait(Urgency.PREWARM)
        _, other = line.wait()
        with pytest.raises(LoaderError) as caught:
            ahead.result(20)
        assert caught.value.code is ErrorCode.BUSY
        assert caught.value.retry_after is not None
        assert line.refusal().ahead == 2
    for each in (person, other):
        each.result(20)


def test_work_ahead_of_time_takes_nobodys_place() -> None:
    with held(most_waiting=1) as line:
        _, ahead = line.wait(Urgency.PREWARM)
        assert line.refusal(Urgency.PREWARM).code is ErrorCode.BUSY
    ahead.result(20)


def test_what_a_person_joins_keeps_its_place() -> None:
    """A person who asked for what waits was not sent away for being there too late to be counted as one."""
    with held(most_waiting=1) as line:
        applicant, joined = line.wait(Urgency.PREWARM)
        applicant.urgency = Urgency.PERSON
        assert line.refusal().ahead == 1
    joined.result(20)


def test_what_conversions_took_of_late_says_when_to_come_back() -> None:
    with held(most_waiting=1) as line:
        _, waiting = line.wait()
        line.now = 60.0  # the one that converts has taken a minute so far
        # Itself and the one that waits, a minute each: half of them are done in one.
        assert line.refusal().retry_after == 60
    waiting.result(20)


@pytest.mark.parametrize(
    ("ahead", "slots", "seconds_each", "expected"),
    [
        (3, 1, 5.0, 8),  # 15 s of work, half of it 7.5 s
        (3, 2, 5.0, 4),  # shared by two
        (0, 4, 5.0, 1),  # never 0: who asks in a circle helps nobody
        (1, 64, 0.01, 1),
        (10_000, 2, 60.0, 120),  # nobody waits for hours on a guess
    ],
)
def test_when_half_of_those_ahead_are_done(
    ahead: int, slots: int, seconds_each: float, expected: int
) -> None:
    assert seconds_to_come_back(ahead, slots, seconds_each) == expected


def test_the_newest_conversions_count_most() -> None:
    pace = Pace()
    for _ in range(30):
        pace.note(1.0)
    assert pace.seconds == pytest.approx(1.0, abs=0.01)
    pace.note(11.0)
    assert pace.seconds == pytest.approx(3.0, abs=0.01)  # a fifth of the way


def sample(registry: CollectorRegistry, name: str, **labels: str) -> float | None:
    return registry.get_sample_value(name, labels)


def test_the_metrics_are_right_at_the_moment_they_are_read() -> None:
    registry = CollectorRegistry()
    metrics = AdmissionMetrics(registry)
    oldest = "xprof_hub_conversion_oldest_wait_seconds"
    with held(most_waiting=5) as line:
        metrics.watch(line.admission.line)
        assert sample(registry, oldest) == 0
        applicant, first = line.wait(Urgency.PREWARM)
        line.now = 7.0
        _, second = line.wait()
        line.now = 10.0  # nothing has happened since but time
        assert sample(registry, oldest) == 10
        in_flight, waiting = "xprof_hub_conversions_in_flight", "xprof_hub_conversions_waiting"
        assert sample(registry, in_flight, urgency="person") == 1
        assert sample(registry, in_flight, urgency="prewarm") == 0
        assert sample(registry, waiting, urgency="prewarm") == 1
        applicant.urgency = Urgency.PERSON
        assert sample(registry, waiting, urgency="prewarm") == 0
        assert sample(registry, waiting, urgency="person") == 2
    for each in (first, second):
        each.result(20)
    assert sample(registry, oldest) == 0
    assert sample(registry, in_flight, urgency="person") == 0


ERROR = LoaderError(ErrorCode.BUSY, "Too much.", None, 7, 3)


def cross_a_process(error: LoaderError) -> LoaderError:
    back: LoaderError = pickle.loads(pickle.dumps(error))
    return back


def cross_the_wire(error: LoaderError) -> LoaderError:
    return ErrorBody.model_validate_json(ErrorBody.of(error).model_dump_json()).to_error()


@pytest.mark.parametrize("cross", [cross_a_process, cross_the_wire])
def test_place_and_time_travel_with_the_error(
    cross: Callable[[LoaderError], LoaderError],
) -> None:
    back = cross(ERROR)
    assert (back.code, back.message, back.retry_after, back.ahead) == (
        ErrorCode.BUSY,
        "Too much.",
        7,
        3,
    )


def test_both_sides_understand_another_version() -> None:
    earlier = '{"code": "busy", "message": "Too much.", "file": null}'
    error = ErrorBody.model_validate_json(earlier).to_error()
    assert (error.retry_after, error.ahead) == (None, None)
    later = '{"code": "busy", "message": "Too much.", "file": null, "ahead": 2, "unheard": [1]}'
    assert ErrorBody.model_validate_json(later).to_error().ahead == 2


def test_a_line_of_many_that_is_full_stays_as_long_as_it_may_be() -> None:
    """Forty at once to a line of five: one converts, five wait, all others hear so at once."""
    with held(most_waiting=5) as line:
        told: list[LoaderError] = []
        lock = threading.Lock()

        def come() -> None:
            try:
                line.convert(Applicant(session=f"s{threading.get_ident()}"))
            except LoaderError as error:
                with lock:
                    told.append(error)

        threads = [threading.Thread(target=come) for _ in range(40)]
        for thread in threads:
            thread.start()
        end = time.monotonic() + 20
        while len(told) < 35:
            assert time.monotonic() < end
            time.sleep(0.005)
        assert line.admission.line().waiting[Urgency.PERSON] == 5
    for thread in threads:
        thread.join(20)
    assert len(told) == 35
    assert {error.ahead for error in told} == {5}
