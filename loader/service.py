"""The worker's one question: the data of one tool for one session.

Looks in the result cache, shares work that is already going on here or in another worker, and otherwise has
it converted. The freshness of an answer is in its key; nothing is invalidated.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from functools import partial

from loader.caches.artifacts import ArtifactStore
from loader.caches.counted_looks import Look
from loader.caches.results import (
    OpenResult,
    ResultHeader,
    ResultStore,
    StoredError,
    answer_or_raise,
    close_pieces,
)
from loader.catalog import list_session
from loader.conversion.answers import Made
from loader.conversion.conversion import Converter
from loader.coordination.flight import Flight, Flights
from loader.coordination.leases import Lease, Leases
from loader.coordination.progress import ProgressBoard
from loader.coordination.work import Reporter, Work, stopping_error
from loader.disk import FULL_SECONDS
from loader.engine.base import StopSignal
from loader.errors import CACHEABLE, COMES_BACK, ErrorCode, LoaderError, raise_without_place
from loader.keys import (
    ToolRequest,
    failure_key,
    tool_failure_key,
)
from loader.plan import Plan, plan_for
from loader.stopping import Stopping
from loader.storage.base import Storage
from loader.turns.order import Urgency

_TRIES = 3
"""How often to begin anew when a file is replaced, or when another worker takes over."""
_FOR_LARGER = frozenset(
    {ErrorCode.OUT_OF_MEMORY, ErrorCode.TIMED_OUT, ErrorCode.NEEDS_LARGER_WORKER}
)
"""Failures that say nothing to a worker with more memory."""
_OF_A_RUN = frozenset({ErrorCode.TIMED_OUT, ErrorCode.OUT_OF_MEMORY, ErrorCode.ENGINE_CRASHED})
"""Failures of reading the profiles with a tool that its other options would only meet again."""
_PASSING = frozenset(
    {ErrorCode.CANCELLED, ErrorCode.SOURCE_CHANGED, ErrorCode.INCOMPLETE, *COMES_BACK}
)
"""Failures after which the next one may well make the artifact set."""
logger = logging.getLogger(__name__)
_NO_ARTIFACT = LoaderError(ErrorCode.INTERNAL, "The artifact could not be made.")
"""Kept for a moment under the key of an artifact set that an attempt did not produce."""


@dataclass(frozen=True)
class Answered:
    """An answer with the key that names its content."""

    key: str
    result: OpenResult


@dataclass(frozen=True)
class Retention:
    """How long answers are kept, in seconds."""

    result_seconds: int
    error_seconds: int


class ToolDataService:
    """Answers tool requests. Thread-safe; calls block until the answer is there.

    Attributes:
        stopping: whether the worker ends. Once it was told to, nothing is begun (BUSY), and what nobody waits
            for is given up; later all is (CANCELLED).

    Args:
        first_look: into `results`, for who has just come, so that somebody can count: the looks of those who
            wait are many and say nothing.
    """

    def __init__(
        self,
        storage: Storage,
        results: ResultStore,
        artifacts: ArtifactStore,
        leases: Leases,
        converter: Converter,
        retention: Retention,
        progress: ProgressBoard,
        stopping: Stopping | None = None,
        first_look: Look | None = None,
    ) -> None:
        self._storage = storage
        self._results = results
        self._first_look = first_look or results.open
        self._artifacts = artifacts
        self._leases = leases
        self._converter = converter
        self._retention = retention
        self._progress = progress
        self._flights = Flights()
        self.stopping = stopping or Stopping()

    def get(
        self,
        request: ToolRequest,
        urgency: Urgency = Urgency.PERSON,
        cancelled: StopSignal | None = None,
        is_large: bool = False,
        is_last: bool = False,
    ) -> Answered:
        """The answer, made now if nobody has made it yet.

        Args:
            request: what is asked.
            urgency: for whom.
            cancelled: set when whoever asked in advance does not want the answer any more.
            is_large: whether this worker is asked because another one had too little memory or time; what
                that one remembers of its failure does not count then.
            is_last: whether no worker with more memory is asked after this one, so that hosts that are too
                large for it are left out.

        Raises:
            LoaderError: why there is none, in words.
        """
        for remaining in reversed(range(_TRIES)):
            session = list_session(self._storage, request.locations)
            plan = plan_for(session, self._converter.engine_version, request)
            plan = self._converter.fitted(replace(plan, is_last=is_last))
            failures = tool_failure_key(self._converter.engine_version, request, plan.files)
            asked = _Asked(plan, urgency, cancelled, is_large, failures)
            try:
                return Answered(plan.key, self._answer(asked))
            except LoaderError as error:
                if error.code is not ErrorCode.SOURCE_CHANGED or remaining == 0:
                    raise_without_place(error)
        raise AssertionError("the last try returns or raises")

    def _answer(self, asked: _Asked) -> OpenResult:
        found = self._look(asked, self._first_look)
        if found is None:
            self._flights.run(
                asked.plan.key,
                lambda flight: self._produce(asked, flight),
                asked.urgency,
                asked.cancelled,
            )
            found = self._look(asked)
        if found is None:
            raise LoaderError(
                ErrorCode.WORKER_FULL,
                "The answer could not be kept; the worker's disk may be full.",
                retry_after=FULL_SECONDS,
            )
        return answer_or_raise(found)

    def _look(self, asked: _Asked, look: Look | None = None) -> OpenResult | None:
        """What is kept for the request: its answer, or a failure that is remembered.

        A failure of the tool counts as long as the profiles would have to be read.
        """
        found = self._look_under(asked, asked.plan.key, look)
        if found is not None:
            return found
        failed = self._look_under(asked, asked.tool_key)
        if failed is not None and self._has_set(asked.plan):
            close_pieces(failed)
            return None
        return failed

    def _look_under(self, asked: _Asked, key: str, look: Look | None = None) -> OpenResult | None:
        """What is kept under a key, or under that of its failures if this worker has much memory."""
        found = (look or self._results.open)(key)
        if not asked.is_large:
            return found
        if found is not None:
            error = found.header.error
            if error is None or error.code not in _FOR_LARGER:
                return found
            close_pieces(found)
        return self._results.open(failure_key(key))

    def _has_set(self, plan: Plan) -> bool:
        """Whether the tool has an artifact set to be made from, in place of the profiles."""
        return plan.artifact_key is not None and self._artifacts.contains(plan.artifact_key)

    def _is_there(self, asked: _Asked) -> bool:
        found = self._look(asked)
        if found is not None:
            close_pieces(found)
        return found is not None

    def _produce(self, asked: _Asked, flight: Flight) -> None:
        """Has the answer made, here or elsewhere; a worker that was told to end begins none."""
        if self.stopping.has_begun:
            raise stopping_error()
        with Reporter(self._progress, asked.plan.key) as reporter:
            session = "\n".join(asked.plan.request.locations)
            tries = 0
            while tries < _TRIES:
                work = Work(flight, reporter, self.stopping, session)
                try:
                    self._produce_shared(asked, work)
                    return
                except _ReplacedError:
                    logger.warning("another worker has taken over; waiting for its answer")
                    tries += 1
                except _GaveWayError:
                    logger.info("work ahead of time gave way to a person; it waits again")
                    tries += flight.urgency is Urgency.PREWARM
        raise LoaderError(ErrorCode.BUSY, "The workers are too slow at the moment.")

    def _produce_shared(self, asked: _Asked, work: Work) -> None:
        """First the right to make the artifact set, if it is missing; then the right to make the answer."""
        plan, shared = asked.plan, asked.plan.artifact_key or ""

        def answered() -> bool:
            return self._is_there(asked)

        def tried() -> bool:
            """Whether the set is there, or somebody has just failed to make it: waiting gains nothing."""
            return (
                answered()
                or self._results.contains(asked.missing_key)
                or self._artifacts.contains(shared)
            )

        if shared and not tried():
            work.reporter.follow(shared)
            lease = self._leases.acquire(shared, tried, partial(self._check_wait, work, shared))
            if lease is not None:
                work.reporter.also_under(shared)
                with self._flights.also_as(shared, work.flight):
                    self._make(asked, work, lease, shared)
                return
        work.reporter.follow(plan.key)
        check_wait = partial(self._check_wait, work, plan.key)
        lease = self._leases.acquire(plan.key, answered, check_wait)
        if lease is not None:
            self._make(asked, work, lease)

    def _check_wait(self, work: Work, name: str) -> None:
        """While waiting for a lease; when a person does, whoever holds it works for a person, wherever it is.

        Raises:
            LoaderError: as `Work.check_wait`.
        """
        work.check_wait()
        if work.urgency is Urgency.PERSON:
            self._flights.promote(name)
            self._leases.want(name)

    def _make(self, asked: _Asked, work: Work, lease: Lease, shared: str = "") -> None:
        """Has the answer made here; remembers a failure that lies in the profile itself.

        Raises:
            _ReplacedError: this worker was too slow, and another one has the lease now.
            _GaveWayError: a person needed the place.
            LoaderError: why there is no answer.
        """
        work.lease = lease
        is_passing = False
        try:
            is_passing = not self._converter.run(
                asked.plan, work, partial(self._keep, asked.plan.key)
            )
        except LoaderError as error:
            is_passing = error.code in _PASSING
            if error.code is ErrorCode.CANCELLED and lease.is_lost:
                raise _ReplacedError from error
            if error.code is ErrorCode.CANCELLED and work.may_begin_anew:
                raise _GaveWayError from error
            # What a slow worker failed at, its successor may have made.
            if error.code in CACHEABLE and lease.confirm():
                self._remember_failure(asked, error)
            raise
        finally:
            # Whatever goes wrong: a lease that is not given back is renewed for as long as this worker lives.
            try:
                if shared and not is_passing and not self._artifacts.contains(shared):
                    self._remember_missing(asked, lease)
            finally:
                lease.release()

    def _remember_failure(self, asked: _Asked, error: LoaderError) -> None:
        """For this request; and for all of the tool, if it was the profiles that were read."""
        self._remember(asked.key_of_failures, error)
        if error.code in _OF_A_RUN and not self._has_set(asked.plan):
            self._remember(asked.key_of_tool_failures, error)

    def _remember(self, key: str, error: LoaderError) -> None:
        stored = StoredError(error.code.value, error.message, error.file)
        header = ResultHeader("application/json", 0, 0, error=stored)
        self._results.put(key, header, None, self._retention.error_seconds)

    def _remember_missing(self, asked: _Asked, lease: Lease) -> None:
        """Lets nobody queue for a set that can't be made, unless a successor is about to make it."""
        if lease.confirm():
            self._remember(asked.missing_key, _NO_ARTIFACT)

    def _keep(self, key: str, made: Made) -> None:
        seconds = (
            self._retention.result_seconds
            if made.header.is_final
            else self._retention.error_seconds
        )
        self._results.put(key, made.header, made.body, seconds)


@dataclass(frozen=True)
class _Asked:
    """A request with its plan, and how it is asked."""

    plan: Plan
    urgency: Urgency
    cancelled: StopSignal | None
    is_large: bool
    tool_key: str

    @property
    def key_of_failures(self) -> str:
        """Where this worker remembers its failures; one with much memory has a place of its own."""
        return failure_key(self.plan.key) if self.is_large else self.plan.key

    @property
    def key_of_tool_failures(self) -> str:
        """Likewise, where it remembers that the tool fails on these profiles."""
        return failure_key(self.tool_key) if self.is_large else self.tool_key

    @property
    def missing_key(self) -> str:
        """Where this worker remembers that the artifact set can't be made, likewise."""
        shared = self.plan.artifact_key or ""
        return failure_key(shared) if self.is_large else shared


class _ReplacedError(Exception):
    """Another worker has taken over."""


class _GaveWayError(Exception):
    """Work ahead of time was ended because a person needed its place."""
