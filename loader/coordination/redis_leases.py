"""Leases among all workers, in Redis.

A lease is a key that ends by itself and that its holder renews. Beside it lies the token of the last lease of
that name: a holder that was too slow finds out whether another came meanwhile, and goes on if nobody did.
Redis is a cache here, too: without it, leases hold in each process only, and some work is done twice.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from enum import IntEnum
from uuid import uuid4

import redis

from loader.caches.redis_results import RedisGuard
from loader.coordination.leases import Lease, ProcessLeases, unless_done

LEASE_SECONDS = 6.0
_RENEW_SECONDS = 2.0
_FENCE_SECONDS = 24 * 3600
"""How long the last token is known: longer than any conversion may take."""
_FIRST_PAUSE_SECONDS = 0.05
_LONGEST_PAUSE_SECONDS = 0.5
_LEASE, _FENCE, _WANTED = "xprof-hub:lease:", "xprof-hub:fence:", "xprof-hub:wanted:"

_TAKE = """
if redis.call('exists', KEYS[1]) == 1 then return false end
if redis.call('exists', KEYS[2]) == 0 then
  local now = redis.call('time')
  redis.call('set', KEYS[2], now[1] .. string.format('%06d', now[2]))
end
redis.call('incr', KEYS[2])
redis.call('expire', KEYS[2], ARGV[3])
redis.call('set', KEYS[1], ARGV[1], 'px', ARGV[2])
return redis.call('get', KEYS[2])
"""
"""Gives the token, or nothing. The first one is the time in µs: it grows even when Redis has lost all."""
_RENEW = """
local holder = redis.call('get', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
local last = redis.call('get', KEYS[2])
if last and tonumber(last) > tonumber(ARGV[4]) then return 0 end
redis.call('set', KEYS[2], ARGV[4], 'ex', ARGV[3])
redis.call('set', KEYS[1], ARGV[1], 'px', ARGV[2])
return 1 + redis.call('exists', KEYS[3])
"""
"""Prolongs a lease, also one that has ended, as long as nobody has had it since. An older token than one's
own is what a replica knows that took over before it had heard of the newer one."""
_DELETE = """
if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end
return 0
"""


class Standing(IntEnum):
    """What a holder learns when it renews its lease."""

    LOST = 0
    HELD = 1
    WANTED = 2
    """Held, and a person waits for the work."""


class RedisLeases:
    """Leases among all workers, and among the threads of this one even while Redis is gone."""

    def __init__(self, client: redis.Redis, guard: RedisGuard) -> None:
        self._client = client
        self._guard = guard
        self._here = ProcessLeases()
        self._take = client.register_script(_TAKE)
        self._renew = client.register_script(_RENEW)
        self._delete = client.register_script(_DELETE)

    def acquire(
        self, name: str, done: Callable[[], bool], check_wait: Callable[[], None] = lambda: None
    ) -> Lease | None:
        """See `Leases.acquire`. Without Redis the lease holds for this process only."""
        inner = self._here.acquire(name, done, check_wait)
        if inner is None:
            return None
        try:
            lease = self._wait(name, inner, done, check_wait)
        except BaseException:
            inner.release()
            raise
        if lease is None:
            inner.release()
            return None
        return unless_done(lease, done)

    def _wait(
        self, name: str, inner: Lease, done: Callable[[], bool], check_wait: Callable[[], None]
    ) -> Lease | None:
        """The lease; None when the work got done meanwhile."""
        holder, pause = uuid4().hex, _FIRST_PAUSE_SECONDS
        while True:
            try:
                token = None if self._guard.is_paused else self._ask(name, holder)
            except redis.RedisError as problem:
                self._guard.record(problem)
                token = None
            if self._guard.is_paused:
                return inner
            if token is not None:
                return _RedisLease(self, name, holder, token, inner)
            if done():
                return None
            check_wait()
            time.sleep(pause)
            pause = min(pause * 1.5, _LONGEST_PAUSE_SECONDS)

    def _ask(self, name: str, holder: str) -> int | None:
        """The token of the lease, if nobody has it."""
        arguments: list[str | int] = [holder, int(LEASE_SECONDS * 1000), _FENCE_SECONDS]
        token = self._take(keys=[_LEASE + name, _FENCE + name], args=arguments)
        return None if token is None else int(token)

    def want(self, name: str) -> None:
        """See `Leases.want`; ends by itself like a lease."""
        if self._guard.is_paused:
            return
        try:
            self._client.set(_WANTED + name, 1, px=int(LEASE_SECONDS * 1000))
        except redis.RedisError as problem:
            self._guard.record(problem)

    def renew(self, name: str, holder: str, token: int) -> Standing:
        """Prolongs a lease, unless another has had it since. Without Redis nobody can have."""
        arguments: list[str | int] = [
            holder,
            int(LEASE_SECONDS * 1000),
            _FENCE_SECONDS,
            token,
        ]
        keys = [_LEASE + name, _FENCE + name, _WANTED + name]
        try:
            return Standing(int(self._renew(keys=keys, args=arguments)))
        except redis.RedisError as problem:
            self._guard.record(problem)
            return Standing.HELD

    def delete(self, name: str, holder: str) -> None:
        """Ends a lease that is still its holder's."""
        try:
            self._delete(keys=[_LEASE + name], args=[holder])
        except redis.RedisError as problem:
            self._guard.record(problem)


class _RedisLease:
    """Renews itself in a thread until released or lost."""

    def __init__(
        self, leases: RedisLeases, name: str, holder: str, token: int, inner: Lease
    ) -> None:
        self.token = token
        self._leases = leases
        self._name = name
        self._holder = holder
        self._inner = inner
        self._lost = threading.Event()
        self._wanted = threading.Event()
        self._released = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="lease", daemon=True)
        self._thread.start()

    @property
    def is_lost(self) -> bool:
        """See `Lease.is_lost`; known within two seconds."""
        return self._lost.is_set()

    @property
    def is_wanted(self) -> bool:
        """See `Lease.is_wanted`; known within two seconds."""
        return self._wanted.is_set()

    def confirm(self) -> bool:
        """See `Lease.confirm`."""
        if self._lost.is_set():
            return False
        standing = self._leases.renew(self._name, self._holder, self.token)
        if standing is Standing.LOST:
            self._lost.set()
        elif standing is Standing.WANTED:
            self._wanted.set()
        return standing is not Standing.LOST

    def _keep(self) -> None:
        while not self._released.wait(_RENEW_SECONDS) and self.confirm():
            pass

    def release(self) -> None:
        """Ends the lease."""
        try:
            self._released.set()
            self._thread.join()
            self._leases.delete(self._name, self._holder)
        finally:
            self._inner.release()
