"""Single flight: one thread in this process, and one worker among all, does a piece of work.

In the process, `Flights` lets every caller with the same key wait for the first one's outcome. Across workers
a lease in Redis does the same; a holder that dies stops renewing it, and after `LEASE_SECONDS` another takes
over. A lease only saves work: answers are named by their content, so two holders can't do harm.
"""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Callable
from concurrent.futures import Future
from typing import Protocol

import redis

from loader.redis_results import RedisGuard

LEASE_SECONDS = 6.0
_RENEW_SECONDS = 2.0
_FIRST_PAUSE_SECONDS = 0.05
_LONGEST_PAUSE_SECONDS = 0.5
_PREFIX = "xprof-hub:lease:"
logger = logging.getLogger(__name__)


class Flights:
    """Callers of the same key in this process share one execution and its outcome."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: dict[str, Future[None]] = {}

    def run(self, key: str, work: Callable[[], None]) -> None:
        """Runs `work`, or waits for the caller that is already running it; both see its exception."""
        with self._lock:
            shared = self._running.get(key)
            if shared is None:
                mine: Future[None] = Future()
                self._running[key] = mine
        if shared is not None:
            shared.result()
            return
        try:
            work()
        except BaseException as problem:
            self._finish(key, mine, problem)
            raise
        self._finish(key, mine, None)

    def _finish(self, key: str, future: Future[None], problem: BaseException | None) -> None:
        with self._lock:
            del self._running[key]
        if problem is None:
            future.set_result(None)
        else:
            future.set_exception(problem)


class Lease(Protocol):
    """The right to do one piece of work."""

    def release(self) -> None:
        """Lets the next one in."""


class Leases(Protocol):
    """Gives leases."""

    def acquire(self, name: str, done: Callable[[], bool]) -> Lease | None:
        """Waits for the lease; None when `done` says that the work has been done by another meanwhile."""


def _unless_done(lease: Lease, done: Callable[[], bool]) -> Lease | None:
    """The lease, given back at once when the work has been done meanwhile or can't be told."""
    try:
        finished = done()
    except BaseException:
        lease.release()
        raise
    if finished:
        lease.release()
        return None
    return lease


class ProcessLeases:
    """Leases among the threads of one process."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._held: set[str] = set()

    def acquire(self, name: str, done: Callable[[], bool]) -> Lease | None:
        """See `Leases.acquire`."""
        with self._changed:
            while name in self._held:
                self._changed.wait()
            self._held.add(name)
        return _unless_done(_ProcessLease(lambda: self._release(name)), done)

    def _release(self, name: str) -> None:
        with self._changed:
            self._held.discard(name)
            self._changed.notify_all()


class _ProcessLease:
    def __init__(self, release: Callable[[], None]) -> None:
        self.release = release


class RedisLeases:
    """Leases among all workers, and among the threads of this one even while Redis is gone."""

    def __init__(self, client: redis.Redis, guard: RedisGuard) -> None:
        self._client = client
        self._guard = guard
        self._here = ProcessLeases()
        # Deletes or prolongs the lease only while it is still ours.
        self._delete = client.register_script(
            "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0"
        )
        self._renew = client.register_script(
            "if redis.call('get', KEYS[1]) == ARGV[1] then "
            "return redis.call('pexpire', KEYS[1], ARGV[2]) end return 0"
        )

    def acquire(self, name: str, done: Callable[[], bool]) -> Lease | None:
        """See `Leases.acquire`. Without Redis the lease holds for this process only."""
        inner = self._here.acquire(name, done)
        if inner is None:
            return None
        token = uuid.uuid4().hex
        try:
            if not self._wait(name, token, done):
                inner.release()
                return None
            lease = _RedisLease(self, name, token, inner)
        except BaseException:
            inner.release()
            raise
        return _unless_done(lease, done)

    def _wait(self, name: str, token: str, done: Callable[[], bool]) -> bool:
        """Whether the lease is ours; not when the work got done meanwhile."""
        pause = _FIRST_PAUSE_SECONDS
        while not self._take(name, token):
            if done():
                return False
            time.sleep(pause)
            pause = min(pause * 1.5, _LONGEST_PAUSE_SECONDS)
        return True

    def _take(self, name: str, token: str) -> bool:
        """Whether the lease is ours now; without Redis it always is."""
        if self._guard.is_paused:
            return True
        try:
            milliseconds = int(LEASE_SECONDS * 1000)
            return bool(self._client.set(_PREFIX + name, token, nx=True, px=milliseconds))
        except redis.RedisError as problem:
            self._guard.record(problem)
            return True

    def renew(self, name: str, token: str) -> None:
        """Prolongs a lease that is still ours."""
        try:
            self._renew(keys=[_PREFIX + name], args=[token, int(LEASE_SECONDS * 1000)])
        except redis.RedisError as problem:
            self._guard.record(problem)

    def delete(self, name: str, token: str) -> None:
        """Ends a lease that is still ours."""
        try:
            self._delete(keys=[_PREFIX + name], args=[token])
        except redis.RedisError as problem:
            self._guard.record(problem)


class _RedisLease:
    """Renews itself in a thread until released."""

    def __init__(self, leases: RedisLeases, name: str, token: str, inner: Lease) -> None:
        self._leases = leases
        self._name = name
        self._token = token
        self._inner = inner
        self._released = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="lease", daemon=True)
        self._thread.start()

    def _keep(self) -> None:
        while not self._released.wait(_RENEW_SECONDS):
            self._leases.renew(self._name, self._token)

    def release(self) -> None:
        """Ends the lease."""
        self._released.set()
        self._thread.join()
        self._leases.delete(self._name, self._token)
        self._inner.release()
