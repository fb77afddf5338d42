"""Results in Redis, shared by every front end and worker.

One string value per answer, written in pieces under a temporary name and renamed when whole, read in pieces
with GETRANGE. Redis is a cache: when it does not answer, nothing is found and nothing is kept, and for a
moment it is not asked again, so that a stopped Redis costs time but no answer.
"""

from __future__ import annotations

import io
import logging
import threading
import time
import uuid
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import cast

import redis

from loader.caches.hedged_reads import HedgedReads, ReadObserver, Reads
from loader.caches.results import PIECE_BYTES, FilePieces, OpenResult, ResultHeader, read_header
from loader.errors import ErrorCode, LoaderError
from loader.keys import MARK_DIGITS

_PREFIX = "xprof-hub:result:"
_FIRST_PIECE = 256 << 10
MOST_BYTES = 256 << 20
_DRAFT_SECONDS = 120
_LONGEST_PAUSE_SECONDS = 8.0
"""How long a Redis that stands still is left alone at most."""
_AGAIN_SECONDS = 10.0
"""A failure so soon after a pause is the same one still."""
_SCANNED = 1000
"""Names that Redis tells at a time."""
_RENAME = """
if redis.call('exists', KEYS[1]) == 0 then return 0 end
local held = redis.call('getrange', KEYS[2], 0, 1048579)
if #held >= 4 then
  local a, b, c, d = string.byte(held, 1, 4)
  local length = ((a * 256 + b) * 256 + c) * 256 + d
  local readable, header = pcall(cjson.decode, string.sub(held, 5, 4 + length))
  if readable and type(header) == 'table' and header['error'] == cjson.null then
    redis.call('del', KEYS[1])
    return 1
  end
end
redis.call('rename', KEYS[1], KEYS[2])
redis.call('expire', KEYS[2], ARGV[1])
return 1
"""
"""Gives a draft its name, in place of a failure or damaged value, not of an answer; 0 without a draft."""
logger = logging.getLogger(__name__)


def connect(url: str) -> redis.Redis:
    """A client with short time-outs; it connects when first used."""
    return redis.Redis.from_url(
        url, socket_connect_timeout=0.5, socket_timeout=2.0, health_check_interval=30
    )


def hedged_reads(
    client: redis.Redis, url: str, replica_url: str, observer: ReadObserver
) -> HedgedReads:
    """Reads with a second way to Redis.

    Args:
        client: of the first Redis.
        url: of the same one.
        replica_url: of a replica; empty when there is none.
        observer: told of reads that were asked twice.
    """
    second = redis.Redis.from_url(
        replica_url or url, socket_connect_timeout=0.3, socket_timeout=1.0, health_check_interval=30
    )
    return HedgedReads(client, second, bool(replica_url), observer)


class _PlainReads:
    """`Reads` of one Redis."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def part(self, name: str, start: int, end: int) -> bytes:
        """See `Reads.part`."""
        return cast(bytes, self._client.getrange(name, start, end))

    def is_there(self, name: str) -> bool:
        """See `Reads.is_there`."""
        return bool(self._client.exists(name))


def _mark_of(name: bytes) -> str:
    return name.decode(errors="replace").removeprefix(_PREFIX)[:MARK_DIGITS]


class RedisGuard:
    """Whether Redis is left alone for a moment, after it failed.

    One that refuses is asked again soon: that costs nothing. To find out that one stands still costs a
    person seconds, so it is left alone for longer each time.

    Args:
        pause_seconds: how long at first.
        clock: seconds that only grow.
    """

    def __init__(
        self, pause_seconds: float = 1.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._first_pause = self._pause = pause_seconds
        self._clock = clock
        self._lock = threading.Lock()
        self._down_until = 0.0
        self.failures = 0

    @property
    def is_paused(self) -> bool:
        """Whether Redis failed a moment ago."""
        return self._clock() < self._down_until

    def record(self, problem: redis.RedisError) -> None:
        """Notes a failure; one log line per pause."""
        with self._lock:
            if not self.is_paused:
                logger.warning("redis does not answer, going on without it: %s", problem)
                self._pause = self._next_pause(problem)
            self.failures += 1
            self._down_until = self._clock() + self._pause

    def _next_pause(self, problem: redis.RedisError) -> float:
        is_silent = isinstance(problem, redis.TimeoutError)
        if is_silent and self._clock() < self._down_until + _AGAIN_SECONDS:
            return min(2 * self._pause, max(_LONGEST_PAUSE_SECONDS, self._first_pause))
        return self._first_pause


class RedisResults:
    """A `ResultStore` in Redis.

    Args:
        client: where answers are kept.
        guard: leaves it alone for a moment after a failure.
        reads: how they are read; plainly, if None.
    """

    def __init__(self, client: redis.Redis, guard: RedisGuard, reads: Reads | None = None) -> None:
        self._client = client
        self._guard = guard
        self._reads = reads or _PlainReads(client)
        self._rename = client.register_script(_RENAME)

    @property
    def is_failing(self) -> bool:
        """Whether Redis failed a moment ago, so that nothing is found."""
        return self._guard.is_paused

    def open(self, key: str) -> OpenResult | None:
        """The answer under the key; None also when Redis is out of order or the value is damaged."""
        if self._guard.is_paused:
            return None
        name = _PREFIX + key
        try:
            first = self._reads.part(name, 0, _FIRST_PIECE - 1)
        except redis.RedisError as problem:
            self._guard.record(problem)
            return None
        if not first:
            return None
        source = io.BytesIO(first)
        try:
            header = read_header(source)
        except ValueError as problem:
            logger.warning("a damaged result in redis is ignored: %s", problem)
            return None
        return OpenResult(header, self._pieces(name, source.read(), source.tell(), header.size))

    def _pieces(self, name: str, first: bytes, offset: int, size: int) -> Iterator[bytes]:
        if first:
            yield first
        left = size - len(first)
        while left > 0:
            end = offset + min(left, PIECE_BYTES) - 1
            try:
                piece = self._reads.part(name, offset, end)
            except redis.RedisError as problem:
                self._guard.record(problem)
                raise ConnectionError("redis went away while a result was being read") from problem
            if not piece:
                raise ConnectionError("the result left redis while it was being read")
            yield piece
            offset += len(piece)
            left -= len(piece)

    def contains(self, key: str) -> bool:
        """Whether Redis holds the key."""
        if self._guard.is_paused:
            return False
        try:
            return self._reads.is_there(_PREFIX + key)
        except redis.RedisError as problem:
            self._guard.record(problem)
            return False

    def put(self, key: str, header: ResultHeader, body: Path | None, ttl_seconds: int) -> None:
        """Keeps the answer; values over 256 MB stay on the worker's disk only."""
        if self._guard.is_paused or header.size > MOST_BYTES:
            return
        draft = f"{_PREFIX}draft:{uuid.uuid4().hex}"
        try:
            if self._upload(draft, header, body):
                self._publish(draft, _PREFIX + key, ttl_seconds)
        except redis.RedisError as problem:
            self._guard.record(problem)

    def forget(self, marks: Collection[str]) -> int:
        """Removes the answers of these sessions, by one look at all keys: `loader.caches.forgetting.Forgets`.

        Raises:
            LoaderError: STORAGE_UNAVAILABLE.
        """
        count = 0
        try:
            for names in self._names():
                gone = [name for name in names if _mark_of(name) in marks]
                count += self._client.unlink(*gone) if gone else 0
        except redis.RedisError as problem:
            raise LoaderError(
                ErrorCode.STORAGE_UNAVAILABLE, "Redis does not answer, so cached answers are left."
            ) from problem
        return count

    def _names(self) -> Iterator[list[bytes]]:
        """All that Redis holds of answers, some at a time; one may come twice."""
        cursor = 0
        while True:
            cursor, names = self._client.scan(cursor, f"{_PREFIX}*", _SCANNED)
            yield [name for name in names if isinstance(name, bytes)]
            if cursor == 0:
                return

    def _upload(self, draft: str, header: ResultHeader, body: Path | None) -> bool:
        """Writes the draft in pieces; False, and no draft, when Redis dropped it on the way."""
        start = header.to_bytes()
        self._client.set(draft, start, ex=_DRAFT_SECONDS)
        if body is None:
            return True
        length = len(start)
        for piece in FilePieces(body.open("rb")):
            length += len(piece)
            with self._client.pipeline(transaction=True) as steps:
                steps.append(draft, piece)
                steps.expire(draft, _DRAFT_SECONDS)
                held, _ = steps.execute()
            if held != length:
                self._client.delete(draft)
                return False
        return True

    def _publish(self, draft: str, name: str, ttl_seconds: int) -> None:
        """Makes the draft the value, unless there is an answer: somebody may be reading it just now."""
        if not self._rename(keys=[draft, name], args=[ttl_seconds]):
            logger.info("a result was not kept in redis: it had left before it was whole")
