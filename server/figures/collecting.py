"""XProf's answers for a session's figures: from the result cache, or made by workers.

Only small answers are read: parsing a large one would keep the front end from serving people meanwhile.
"""

from __future__ import annotations

import io
import json
import logging
from collections.abc import AsyncIterable, Iterable
from dataclasses import dataclass, field

import anyio
import anyio.to_thread
import httpx2
import zstandard

from loader.caches.results import ResultHeader, ResultStore, answer_or_raise, close_pieces
from loader.catalog import SessionFiles
from loader.errors import CACHEABLE, ErrorCode, LoaderError
from loader.keys import ToolRequest
from loader.plan import plan_for
from loader.tools import ALL_HOSTS
from loader.turns.admission import Urgency
from server.figures.reading import MEMORY, OPS, OVERVIEW, POD
from server.fleet.patient_asking import ask_patiently
from server.fleet.workers import Workers
from server.http.coming_back import busy_sentence
from server.xprof.queries import DATA, request_of_route

MOST_BYTES = 8 << 20
"""Of an answer before it is parsed: 7 MB take 0.15 s."""
_LASTING = CACHEABLE | {ErrorCode.NOT_FOUND, ErrorCode.INVALID_REQUEST}
"""What lies in the files, so that the next try ends like this one."""
logger = logging.getLogger(__name__)


@dataclass
class Collected:
    """What could be had.

    Attributes:
        answers: parsed answers by tool.
        gaps: a sentence about each answer that there will never be for these files.
        problem: what kept an answer away that there may be later; empty when nothing did.
        is_whole: whether every answer was asked for, and none may come later.
    """

    answers: dict[str, object] = field(default_factory=dict)
    gaps: list[str] = field(default_factory=list)
    problem: str = ""
    is_whole: bool = True


def figure_requests(files: SessionFiles) -> Iterable[tuple[str, ToolRequest]]:
    """What is asked, cheapest and most telling first; the memory of one host stands for all."""
    for tool in (OVERVIEW, POD, OPS):
        yield tool, request_of_route(DATA, files, {"tag": tool, "host": ALL_HOSTS})
    yield MEMORY, request_of_route(DATA, files, {"tag": MEMORY, "host": files.host_names[0]})


class Collector:
    """Gets the answers.

    Args:
        results: finished answers.
        workers: make the missing ones.
        engine_version: part of every answer's key.
        limiter: threads that wait for the cache.
    """

    def __init__(
        self,
        results: ResultStore,
        workers: Workers,
        engine_version: str,
        limiter: anyio.CapacityLimiter,
    ) -> None:
        self._results = results
        self._workers = workers
        self._limiter = limiter
        self.engine_version = engine_version

    async def collect(self, files: SessionFiles, urgency: Urgency | None) -> Collected:
        """The answers for a session's figures.

        Args:
            files: the session's files.
            urgency: with which missing ones are made; None makes none.
        """
        found = Collected()
        for tool, request in figure_requests(files):
            try:
                packed = await self._packed(files, request, urgency)
                if packed is None:
                    found.is_whole = False
                else:
                    found.answers[tool] = await self._in_thread(packed)
            except LoaderError as error:
                self._note(found, tool, error)
            except (ConnectionError, httpx2.TransportError) as problem:
                logger.info("%s broke off: %r", tool, problem)
                found.problem, found.is_whole = "An answer broke off on its way.", False
            except (ValueError, RecursionError, zstandard.ZstdError) as problem:
                logger.info("%s can't be read: %s", tool, type(problem).__name__)
                found.gaps.append(f"{tool} has nothing to say about this profile.")
        return found

    async def _in_thread(self, packed: bytes) -> object:
        return await anyio.to_thread.run_sync(_parse, packed, limiter=self._limiter)

    @staticmethod
    def _note(found: Collected, tool: str, error: LoaderError) -> None:
        if error.code in _LASTING:
            found.gaps.append(f"{tool}: {error.message}")
        else:
            found.problem, found.is_whole = busy_sentence(error), False

    async def _packed(
        self, files: SessionFiles, request: ToolRequest, urgency: Urgency | None
    ) -> bytes | None:
        """The compressed answer; None when it is not there and must not be made.

        Raises:
            LoaderError: why there is none.
            ConnectionError, httpx2.TransportError: it broke off.
        """
        kept = await anyio.to_thread.run_sync(self._kept, files, request, limiter=self._limiter)
        if kept is not None or urgency is None:
            return kept
        if urgency is Urgency.PREWARM:
            answer = await ask_patiently(self._workers, request)
        else:
            answer = await self._workers.get(request, urgency)
        try:
            _require_small(answer.header)
            return await _joined(answer.pieces)
        finally:
            await answer.close()

    def _kept(self, files: SessionFiles, request: ToolRequest) -> bytes | None:
        """The compressed answer of the result cache, or None; blocks.

        Raises:
            LoaderError: what is kept is a failure.
            ConnectionError: the cache broke off.
        """
        plan = plan_for(files, self.engine_version, request)
        stored = self._results.open(plan.key)
        if stored is None:
            return None
        try:
            answer_or_raise(stored)
            _require_small(stored.header)
            return b"".join(stored.pieces)
        finally:
            close_pieces(stored)


async def _joined(pieces: AsyncIterable[bytes]) -> bytes:
    return b"".join([piece async for piece in pieces])


def _require_small(header: ResultHeader) -> None:
    """Refuses what takes too long to parse.

    Raises:
        LoaderError: TOO_LARGE.
    """
    if max(header.raw_size, header.size) > MOST_BYTES:
        raise LoaderError(
            ErrorCode.TOO_LARGE, "The answer is too large for figures; XProf itself shows it."
        )


def _parse(packed: bytes) -> object:
    """A compressed JSON answer, parsed.

    Raises:
        ValueError, RecursionError, zstandard.ZstdError: it is none, or says something else of its size.
    """
    with zstandard.ZstdDecompressor().stream_reader(io.BytesIO(packed)) as reader:
        text = reader.read(MOST_BYTES + 1)
    if len(text) > MOST_BYTES:
        raise ValueError("an answer is larger than its header says")
    return json.loads(text)
