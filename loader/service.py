"""The worker's one question: the data of one tool for one session.

Looks in the result cache, shares work that is already going on here or in another worker, and otherwise has
it converted. The freshness of an answer is in its key; nothing is invalidated.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path

from loader.admission import Urgency
from loader.artifacts import ArtifactStore
from loader.catalog import SessionFiles, list_session
from loader.conversion import Converter, Plan
from loader.errors import CACHEABLE, ErrorCode, LoaderError, raise_without_place
from loader.flight import Flights, Leases
from loader.keys import ToolRequest, artifact_key, result_key
from loader.results import OpenResult, ResultHeader, ResultStore, StoredError
from loader.storage.base import Storage
from loader.tools import OWN_TOOLS, tool_named

_TRIES_WHEN_SOURCE_CHANGES = 3
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


def plan_for(session: SessionFiles, engine_version: str, request: ToolRequest) -> Plan:
    """Gives a request on a session, as it was just listed, its files and keys.

    Raises:
        LoaderError: NOT_FOUND for a tool or host that is not there.
    """
    tool = OWN_TOOLS.get(request.tool) or tool_named(request.tool)
    if request.hosts is None:
        files = session.hosts
    else:
        files = session.select(request.hosts)
        missing = set(request.hosts) - {entry.host for entry in files}
        if missing:
            raise LoaderError(
                ErrorCode.NOT_FOUND, f"This session has no host called “{sorted(missing)[0]}”."
            )
    shared = (
        artifact_key(engine_version, request.locations, tool.artifact, files)
        if tool.artifact
        else None
    )
    return Plan(request, tool, files, result_key(engine_version, request, files), shared)


def answer_or_raise(result: OpenResult) -> OpenResult:
    """The answer, or the failure that was remembered in its place.

    Raises:
        LoaderError: the remembered failure.
    """
    if result.header.error is not None:
        raise result.header.error.as_error()
    return result


class ToolDataService:
    """Answers tool requests. Thread-safe; calls block until the answer is there."""

    def __init__(
        self,
        storage: Storage,
        results: ResultStore,
        artifacts: ArtifactStore,
        leases: Leases,
        converter: Converter,
        retention: Retention,
    ) -> None:
        self._storage = storage
        self._results = results
        self._artifacts = artifacts
        self._leases = leases
        self._converter = converter
        self._retention = retention
        self._flights = Flights()

    def get(
        self,
        request: ToolRequest,
        urgency: Urgency = Urgency.PERSON,
        cancelled: threading.Event | None = None,
        is_large: bool = False,
    ) -> Answered:
        """The answer, made now if nobody has made it yet.

        Args:
            request: what is asked.
            urgency: for whom.
            cancelled: set when whoever asked in advance does not want the answer any more.
            is_large: whether this worker is asked because another one had too little memory.

        Raises:
            LoaderError: why there is none, in words.
        """
        for remaining in reversed(range(_TRIES_WHEN_SOURCE_CHANGES)):
            session = list_session(self._storage, request.locations)
            plan = plan_for(session, self._converter.engine_version, request)
            try:
                return Answered(plan.key, self._answer(plan))
            except LoaderError as error:
                if error.code is not ErrorCode.SOURCE_CHANGED or remaining == 0:
                    raise_without_place(error)
        raise AssertionError("the last try returns or raises")

    def _answer(self, plan: Plan) -> OpenResult:
        found = self._results.open(plan.key)
        if found is None:
            self._flights.run(plan.key, lambda: self._produce(plan))
            found = self._results.open(plan.key)
        if found is None:
            raise LoaderError(
                ErrorCode.INTERNAL, "The answer could not be kept; the worker's disk may be full."
            )
        return answer_or_raise(found)

    def _produce(self, plan: Plan) -> None:
        """Has the answer made, here or elsewhere; remembers a failure that lies in the profile."""
        try:
            self._produce_shared(plan)
        except LoaderError as error:
            if error.code in CACHEABLE:
                self._remember(plan.key, error)
            raise

    def _remember(self, key: str, error: LoaderError) -> None:
        stored = StoredError(error.code.value, error.message, error.file)
        header = ResultHeader("application/json", 0, 0, error=stored)
        self._results.put(key, header, None, self._retention.error_seconds)

    def _produce_shared(self, plan: Plan) -> None:
        """First the right to make the artifact set, if it is missing; then the right to make the answer."""
        shared = plan.artifact_key or ""

        def answered() -> bool:
            return self._results.contains(plan.key)

        def tried() -> bool:
            """Whether the set is there, or somebody has just failed to make it: waiting gains nothing."""
            return answered() or self._results.contains(shared) or self._artifacts.contains(shared)

        if shared and not tried():
            lease = self._leases.acquire(shared, tried)
            if lease is not None:
                try:
                    self._convert(plan)
                finally:
                    if not self._artifacts.contains(shared):
                        self._remember(shared, _NO_ARTIFACT)
                    lease.release()
                return
        lease = self._leases.acquire(plan.key, answered)
        if lease is None:
            return
        try:
            self._convert(plan)
        finally:
            lease.release()

    def _convert(self, plan: Plan) -> None:
        self._converter.run(plan, lambda header, body: self._keep(plan, header, body))

    def _keep(self, plan: Plan, header: ResultHeader, body: Path) -> None:
        self._results.put(plan.key, header, body, self._retention.result_seconds)
