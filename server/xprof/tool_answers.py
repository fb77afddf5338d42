"""Answering a tool request on the front end: from the result cache, or through a worker.

The front end lists the session's files (that is the freshness), and from then on handles opaque compressed
bytes in pieces. It never reads a profile.
"""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

import anyio.to_thread
import httpx2
from fastapi import Request, Response

from loader.caches.results import OpenResult, ResultHeader, answer_or_raise, close_pieces
from loader.catalog import SessionFiles, list_session
from loader.engine.base import CONTENT_TYPES
from loader.errors import ErrorCode, LoaderError
from loader.keys import ToolRequest, encoded_key, failure_key
from loader.plan import Plan, plan_for
from server.encodings import IDENTITY, ZSTD, choose_encoding
from server.fleet.workers import WorkerAnswer
from server.http.conditional import holds_etag
from server.http.preferences import async_patience
from server.http.streams import ClosingResponse
from server.schemas.progress import AnswerProgress
from server.services import Services
from server.tracing.notes import timed
from server.xprof.bodies import Body, recoded_body, stored_body, worker_body
from server.xprof.progress import (
    BEGUN,
    IDLE,
    READY,
    accepted_response,
    running,
)
from server.xprof.whole_answers import Found, look_up, parse_json, whole_body

_LISTING_TURN_SECONDS = 10.0
"""How long a listing may wait for others, when the storage is slow to answer all."""
WARNINGS_HEADER = "X-XProf-Hub-Warnings"
_WARNINGS_LIMIT = 4000
T = TypeVar("T")


class ToolAnswers:
    """Turns tool requests into HTTP answers.

    Args:
        services: the front end's parts.
        redaction: as in `ToolRequest`, for whatever is asked here; so no route can forget it.
    """

    def __init__(self, services: Services, redaction: str = "") -> None:
        self._services = services
        self._redaction = redaction

    async def list_session(self, locations: tuple[str, ...]) -> SessionFiles:
        """The session's hosts as they are now.

        Raises:
            LoaderError: the storage's own errors; STORAGE_UNAVAILABLE, too, when too many wait for it.
        """
        files = await self._on_listing(locations, lambda files: files)
        self._services.listings.note(files)
        return files

    async def list_and_plan(
        self, locations: tuple[str, ...], read: Callable[[SessionFiles], ToolRequest]
    ) -> tuple[SessionFiles, Plan]:
        """The session's hosts as they are now, and the plan for what is asked of them; in one thread.

        Args:
            locations: of the session.
            read: makes the request, given the session's files.

        Raises:
            LoaderError: as `list_session`, and what `read` raises; NOT_FOUND for a host that is not there.
        """

        def planned(files: SessionFiles) -> tuple[SessionFiles, Plan]:
            return files, self._plan_now(files, read(files))

        files, plan = await self._on_listing(locations, planned)
        self._services.listings.note(files)
        return files, plan

    async def _on_listing(self, locations: tuple[str, ...], use: Callable[[SessionFiles], T]) -> T:
        """What is made of a new listing, in the thread that lists; a change of threads costs as much.

        Raises:
            LoaderError: as `list_session`, and what `use` raises.
        """
        storage, threads = self._services.storage, self._services.threads.storage

        def work() -> T:
            return use(list_session(storage, locations))

        try:
            # Ends the wait for a thread only; a listing that has begun ends by itself.
            with timed("listing"), anyio.fail_after(_LISTING_TURN_SECONDS):
                return await anyio.to_thread.run_sync(work, limiter=threads)
        except TimeoutError as problem:
            raise LoaderError(
                ErrorCode.STORAGE_UNAVAILABLE,
                "The storage is slow to answer, and too many wait for it. Try again in a minute.",
            ) from problem

    async def recall_session(self, locations: tuple[str, ...]) -> SessionFiles:
        """The session's hosts as they were some seconds ago, for those who ask again and again.

        Raises:
            LoaderError: the storage's own errors.
        """
        return self._services.listings.recall(locations) or await self.list_session(locations)

    async def respond(
        self,
        http: Request,
        plan: Plan,
        file_name: str | None = None,
        notes: Sequence[str] = (),
    ) -> Response:
        """The answer as the browser wants it: 304, the body in its encoding, or 202 and a word on progress.

        Args:
            http: what the browser sent.
            plan: what is asked.
            file_name: offers the answer as a file of this name.
            notes: sentences that go before the answer's own warnings.

        Raises:
            LoaderError: why there is no answer.
        """
        encoding = choose_encoding(http.headers.get("accept-encoding"))
        headers = _headers(plan.key, encoding, file_name)
        if holds_etag(http.headers.get("if-none-match"), headers["ETag"]):
            self._services.metrics.results.labels("not_modified").inc()
            return Response(status_code=304, headers=headers)
        later = await self._later(http.headers.getlist("prefer"), plan)
        if later is not None:
            return later
        body = await self._open(plan, encoding)
        headers = _headers(body.key, encoding, file_name)
        if notes or body.header.warnings:
            headers[WARNINGS_HEADER] = _ascii_warnings((*notes, *body.header.warnings))
        if encoding != IDENTITY:
            headers["Content-Encoding"] = encoding
        # A HEAD answer says nothing of the length: that of the recoded body is not known yet.
        is_head = http.method == "HEAD"
        pieces = iter(()) if is_head else body.pieces
        # Caches are shared: what is written there by others must not become a page.
        known = body.header.content_type in CONTENT_TYPES
        content_type = body.header.content_type if known else "application/octet-stream"
        if body.whole is not None and not is_head:
            return Response(body.whole, headers=headers, media_type=content_type)
        return ClosingResponse(pieces, body.close, headers, content_type)

    async def read_json(self, session: SessionFiles, request: ToolRequest) -> object:
        """A small JSON answer, parsed.

        Raises:
            LoaderError: why there is no answer.
        """
        plan = await self._plan(session, request)
        body = await self._open(plan, ZSTD)
        if body.whole is not None:
            return await self._in_thread(parse_json, body.whole)
        body = self._recoded(body, IDENTITY)
        try:
            return json.loads(b"".join([piece async for piece in body.pieces]))
        except (ConnectionError, httpx2.TransportError) as problem:
            raise LoaderError(ErrorCode.BUSY, "The answer broke off on its way.") from problem
        finally:
            await body.close()

    async def come_back_later(
        self, preferences: Sequence[str], session: SessionFiles, request: ToolRequest
    ) -> Response | None:
        """The 202 for a caller who prefers it to waiting; None when he waits, or need not any more.

        Args:
            preferences: the `Prefer` headers.
            session: the session's files.
            request: what is asked of it.

        Raises:
            LoaderError: why there will be no answer.
        """
        return await self._later(preferences, await self._plan(session, request))

    async def progress(
        self, session: SessionFiles, read: Callable[[SessionFiles], ToolRequest]
    ) -> AnswerProgress:
        """How far an answer is, without having it made.

        Args:
            session: the session's files.
            read: makes the request, given these.

        Raises:
            LoaderError: what `read` raises; NOT_FOUND for a host that is not there.
        """
        plan = await self._in_thread(lambda: self._plan_now(session, read(session)))
        return await self._progress_of(plan)

    async def _plan(self, session: SessionFiles, request: ToolRequest) -> Plan:
        return await self._in_thread(self._plan_now, session, request)

    def _plan_now(self, session: SessionFiles, request: ToolRequest) -> Plan:
        asked = replace(request, redaction=self._redaction)
        return plan_for(session, self._services.engine_version, asked)

    async def _progress_of(self, plan: Plan) -> AnswerProgress:
        if await self._is_settled(plan):
            return READY
        posted = await self._in_thread(self._services.progress.read, plan.key)
        if posted is not None:
            return running(posted, time.time())
        return BEGUN if self._services.deferred.is_running(plan.key) else IDLE

    async def _later(self, preferences: Sequence[str], plan: Plan) -> Response | None:
        patience = async_patience(preferences)
        if patience is None or await self._is_settled(plan):
            return None

        async def make() -> None:
            answer = await self._services.workers.get(plan.request)
            await answer.close()

        owner = "\n".join(plan.request.locations)
        if await self._services.deferred.finish(plan.key, make, patience, owner):
            return None
        progress = await self._progress_of(plan)
        return accepted_response(progress if progress.state == "running" else BEGUN)

    async def _is_settled(self, plan: Plan) -> bool:
        """Whether the answer is there, or why there is none, which a large worker may change."""
        contains = self._services.results.contains
        if not await self._in_thread(contains, plan.key):
            return False
        if not self._services.settings.large_workers:
            return True
        stored = await self._look_up(plan.key)
        if stored is None:
            return False
        may_help = self._may_large_help(stored.result)
        await self._in_thread(close_pieces, stored.result)
        return not may_help or await self._in_thread(contains, failure_key(plan.key))

    async def is_kept(self, session: SessionFiles, request: ToolRequest) -> bool:
        """Whether the answer is there already, so that nobody has to be asked."""
        plan = await self._plan(session, request)
        return await self._in_thread(self._services.results.contains, plan.key)

    async def _open(self, plan: Plan, encoding: str) -> Body:
        """The body in the encoding, from the nearest place that has it."""
        lookups = self._services.lookups
        with timed("cache"):
            if encoding not in {ZSTD, IDENTITY}:
                ready = await self._look_up(encoded_key(plan.key, encoding))
                if ready is not None:
                    self._services.metrics.results.labels("hit").inc()
                    lookups.note(is_found=True)
                    return self._body_of(plan.key, ready)
            found = await self._look_up(plan.key)
        lookups.note(is_found=found is not None)
        stored = found.result if found is not None else None
        wants_large = stored is not None and self._may_large_help(stored)
        if found is not None and not wants_large:
            self._services.metrics.results.labels("hit").inc()
            ask = partial(self._services.workers.get, plan.request)
            answer_or_raise(found.result)
            body = self._body_of(plan.key, found, ask)
        else:
            self._services.metrics.results.labels("miss").inc()
            with timed("worker"):
                ask = partial(self._services.workers.get, plan.request, is_large=wants_large)
                answer = await ask()
            body = worker_body(answer, ask)
        return body if encoding == ZSTD else self._recoded(body, encoding)

    def _recoded(self, body: Body, encoding: str) -> Body:
        """The same in another encoding."""
        folder = self._services.settings.data_dir / "recoding"
        keep = partial(self._keep, encoded_key(body.key, encoding))
        return recoded_body(body, encoding, folder, self._services.threads.cache, keep)

    def _may_large_help(self, stored: OpenResult) -> bool:
        """Whether what is remembered is a failure for want of memory, and there are larger workers."""
        error = stored.header.error
        return error is not None and self._services.workers.may_help(error.as_error())

    async def _look_up(self, key: str) -> Found | None:
        return await self._in_thread(look_up, self._services.results, key)

    def _body_of(
        self, key: str, found: Found, ask: Callable[[], Awaitable[WorkerAnswer]] | None = None
    ) -> Body:
        if found.whole is not None:
            return whole_body(key, found, found.whole)
        return stored_body(key, found.result, self._services.threads.cache, ask)

    async def _in_thread(self, call: Callable[..., T], *arguments: object) -> T:
        limiter = self._services.threads.cache
        return await anyio.to_thread.run_sync(call, *arguments, limiter=limiter)

    def _keep(self, key: str, header: ResultHeader, body: Path) -> None:
        settings = self._services.settings
        seconds = settings.result_ttl_seconds if header.is_final else settings.error_ttl_seconds
        self._services.results.put(key, header, body, seconds)


def _headers(key: str, encoding: str, file_name: str | None) -> dict[str, str]:
    """Headers that follow from the content alone; the key names it, so it is the ETag."""
    headers = {
        "ETag": f'"{key[:40]}-{encoding}"',
        "Cache-Control": "private, no-cache",
        "Vary": "Accept-Encoding",
    }
    if file_name is not None:
        headers["Content-Disposition"] = f"attachment; filename*=UTF-8''{quote(file_name, safe='')}"
    return headers


def _ascii_warnings(warnings: tuple[str, ...]) -> str:
    """Warnings as ASCII JSON; the last ones are cut or left out when a header can't hold them."""
    kept: list[str] = []
    for warning in warnings:
        room = _WARNINGS_LIMIT - len(json.dumps(kept))
        while warning and len(json.dumps(warning)) > room:
            warning = warning[: len(warning) * 3 // 4]  # noqa: PLW2901 - cut until it fits
        if not warning:
            break
        kept.append(warning)
    return json.dumps(kept)
