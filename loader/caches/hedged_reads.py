"""Reading from Redis with a second question for those that are slow to be answered.

A value never changes under its key, so it does not matter who gives it: when the first Redis has not begun to
answer after the time that it usually takes, the same is asked over another connection, or of a replica, and
the first answer counts. A replica may lag: that it has nothing counts only if the first one fails. Few reads
are asked twice (`loader.budget`), so that a Redis with too much to do does not get twice as much.

There is no thread and nothing to wait for on the ordinary path: one question is sent, and its answer read.
For reads only, and only of what may be missed: who writes or holds a lease asks the first Redis itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

import redis

from loader.budget import Budget

Value = bytes | int
_FIRST_PATIENCE_SECONDS = 0.05
_LEAST_PATIENCE_SECONDS, _MOST_PATIENCE_SECONDS = 0.02, 0.5
_LONGEST_SECONDS = 2.0
"""For both questions together, once the second one was asked."""
_LOOK_SECONDS = 0.002
_SHARE, _EACH_SECOND, _AT_ONCE = 0.05, 0.5, 10.0
_AVOID_SECONDS, _LONGEST_AVOID_SECONDS = 1.0, 30.0
"""How long a replica is asked first after it was faster, at first and at most."""


ReadObserver = Callable[[str], None]
"""Told of reads that were asked twice, for metrics: whose answer was used, `first` or `second`."""


class Reads(Protocol):
    """Reading parts of values."""

    def part(self, name: str, start: int, end: int) -> bytes:
        """Bytes of a value, from one to the other, both included; none where there is no value.

        Raises:
            redis.RedisError: no answer.
        """

    def is_there(self, name: str) -> bool:
        """Whether there is a value.

        Raises:
            redis.RedisError: no answer.
        """


class HedgedReads:
    """`Reads` of one Redis, helped by another one or a second way to it. Thread-safe.

    Args:
        first: has all values.
        second: has those of a replica, or the same.
        is_replica: whether it is one.
        observer: told of reads that were asked twice.
    """

    def __init__(
        self,
        first: redis.Redis,
        second: redis.Redis,
        is_replica: bool,
        observer: ReadObserver,
    ) -> None:
        self._first = first.connection_pool
        self._second = second.connection_pool
        self._is_replica = is_replica
        self._observer = observer
        self._patience = Patience()
        self._budget = Budget(_SHARE, _EACH_SECOND, _AT_ONCE)
        self._avoidance = _Avoidance()

    def part(self, name: str, start: int, end: int) -> bytes:
        """See `Reads.part`."""
        value = self._read("GETRANGE", name, start, end)
        if not isinstance(value, bytes):
            raise redis.ResponseError("GETRANGE did not answer with bytes")
        return value

    def is_there(self, name: str) -> bool:
        """See `Reads.is_there`."""
        return bool(self._read("EXISTS", name))

    def _read(self, *command: str | int) -> Value:
        if self._is_replica and self._avoidance.lasts:
            return self._read_from_replica(command)
        began = time.monotonic()
        try:
            question = _Question(self._first, command)
            if question.is_answered(self._patience.seconds) or not self._budget.spend():
                value = question.answer()
                self._patience.note(time.monotonic() - began)
                self._budget.earn()
                self._avoidance.end()
                return value
        except redis.RedisError:
            if not self._is_replica:
                raise
            self._avoidance.begin(has_failed=True)
            return self._read_from_replica(command)
        self._patience.note(time.monotonic() - began)
        return self._race(question, command)

    def _read_from_replica(self, command: tuple[str | int, ...]) -> Value:
        """While the first one is avoided: what the replica has; for what it has not, the first has a say."""
        try:
            value = _Question(self._second, command).answer()
        except redis.RedisError:
            return _Question(self._first, command).answer()
        if value or self._avoidance.has_failed:
            self._observer("second")
            return value
        return _Question(self._first, command).answer()

    def _race(self, first: _Question, command: tuple[str | int, ...]) -> Value:
        """The first answer to two questions, of which one waits already."""
        try:
            second = _Question(self._second, command)
        except redis.RedisError:
            self._observer("first")
            return first.answer()
        running = {"first": first, "second": second}
        nothing: Value | None = None
        problem: redis.RedisError = redis.TimeoutError("two questions were not answered in time")
        end = time.monotonic() + _LONGEST_SECONDS
        try:
            while running and time.monotonic() < end:
                for name, question in tuple(running.items()):
                    try:
                        value = question.heard(_LOOK_SECONDS)
                    except redis.RedisError as failure:
                        del running[name]
                        problem = failure
                        continue
                    if value is None:
                        continue
                    del running[name]
                    if value or name == "first" or not self._is_replica:
                        return self._used(name, value)
                    nothing = value
        finally:
            for question in running.values():
                question.drop()
        if nothing is None:
            raise problem
        return self._used("second", nothing)

    def _used(self, outcome: str, value: Value) -> Value:
        self._observer(outcome)
        if outcome == "second":
            self._avoidance.begin(has_failed=False)
        else:
            self._avoidance.end()
        return value


class Patience:
    """How long a question is waited for before it is asked again: somewhat longer than most answers took.

    Like the time-outs of TCP: the mean and four times the mean deviation, each moved a little by every
    answer. It takes no lock: a sample that is lost between two threads is not missed.
    """

    def __init__(self) -> None:
        self.seconds = _FIRST_PATIENCE_SECONDS
        """What to wait now."""
        self._mean = _FIRST_PATIENCE_SECONDS / 2
        self._deviation = _FIRST_PATIENCE_SECONDS / 8

    def note(self, seconds: float) -> None:
        """An answer took so long, or has not come for so long."""
        self._deviation += (abs(seconds - self._mean) - self._deviation) / 16
        self._mean += (seconds - self._mean) / 16
        wanted = self._mean + 4 * self._deviation
        self.seconds = min(max(wanted, _LEAST_PATIENCE_SECONDS), _MOST_PATIENCE_SECONDS)


class _Avoidance:
    """Whether a replica is asked first, since the first Redis was slower or failed; longer each time."""

    def __init__(self) -> None:
        self._until = float("-inf")
        self._seconds = 0.0
        self.has_failed = False
        """Whether it failed when it was asked last."""

    @property
    def lasts(self) -> bool:
        """Whether it goes on."""
        return self._until > time.monotonic()

    def begin(self, has_failed: bool) -> None:
        """The first Redis has been of no use again."""
        if not self.lasts:  # else others have found out the same at the same time
            self._seconds = min(max(2 * self._seconds, _AVOID_SECONDS), _LONGEST_AVOID_SECONDS)
            self._until = time.monotonic() + self._seconds
        self.has_failed = has_failed

    def end(self) -> None:
        """It has answered."""
        self._seconds, self.has_failed = 0.0, False


class _Connection(Protocol):
    """What is used of a connection of the client's pool; the client's own types say less."""

    def send_command(self, *words: str | int) -> None:
        """Asks."""

    def can_read(self, timeout: float) -> bool:
        """Whether something comes within the time, in seconds."""

    def read_response(self) -> Value:
        """Reads one answer."""

    def disconnect(self) -> None:
        """Closes it."""


class _Question:
    """One question, and the connection that its answer will come on.

    Raises:
        redis.RedisError: it can't be asked.
    """

    def __init__(self, pool: redis.ConnectionPool, command: tuple[str | int, ...]) -> None:
        self._pool = pool
        self._taken = pool.get_connection()
        self._connection: _Connection = self._taken
        self._ask(command)

    def _ask(self, command: tuple[str | int, ...]) -> None:
        try:
            self._connection.send_command(*command)
        except BaseException:
            self.drop()
            raise

    def is_answered(self, seconds: float) -> bool:
        """Whether the answer has begun to come, or does within this time; it is dropped when it can't.

        Raises:
            redis.RedisError: the connection is lost.
        """
        try:
            return self._connection.can_read(timeout=seconds)
        except BaseException:
            self.drop()
            raise

    def heard(self, seconds: float) -> Value | None:
        """The answer if it has come, or comes within this time.

        Raises:
            redis.RedisError: there is none.
        """
        return self.answer() if self.is_answered(seconds) else None

    def answer(self) -> Value:
        """The answer, waited for.

        Raises:
            redis.RedisError: there is none.
        """
        try:
            value = self._connection.read_response()
        except BaseException:
            self.drop()
            raise
        self._pool.release(self._taken)
        return value

    def drop(self) -> None:
        """Never reads the answer; nobody else may get it."""
        self._connection.disconnect()
        self._pool.release(self._taken)
