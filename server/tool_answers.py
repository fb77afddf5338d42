"""Answering a tool request on the front end: from the result cache, or through a worker.

The front end lists the session's files (that is the freshness), and from then on handles opaque compressed
bytes in pieces. It never reads a profile.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

import anyio.to_thread
import httpx2
from fastapi import Request, Response

from loader.catalog import SessionFiles, list_session
from loader.conversion import Plan
from loader.engine.base import ENGINE_VERSION
from loader.errors import ErrorCode, LoaderError
from loader.hosts import chosen_hosts
from loader.keys import ToolRequest, encoded_key
from loader.results import OpenResult, ResultHeader
from loader.service import answer_or_raise, plan_for
from loader.tools import ALL_HOSTS, canonical_options, tool_named
from server.bodies import Body, recoded_body, stored_body, worker_body
from server.conditional import holds_etag
from server.encodings import IDENTITY, ZSTD, choose_encoding
from server.services import Services
from server.streams import ClosingResponse
from server.ui.shell import content_security_policy

WARNINGS_HEADER = "X-XProf-Hub-Warnings"
_WARNINGS_LIMIT = 4000
T = TypeVar("T")


def read_tool_request(
    session: SessionFiles, tool_name: str, query: Mapping[str, str]
) -> ToolRequest:
    """What XProf's query means for this session; everything else in it is dropped.

    Raises:
        LoaderError: NOT_FOUND for a tool or host that is not there, INVALID_REQUEST for a bad value.
    """
    tool = tool_named(tool_name)
    hosts = chosen_hosts(tool, query.get("host"), query.get("hosts"), session.host_names)
    options = canonical_options(tool, query)
    if tool.with_host and query.get("host"):
        options["host"] = ALL_HOSTS if hosts is None else hosts[0]
    return ToolRequest(session.locations, tool.name, hosts, options)


class ToolAnswers:
    """Turns tool requests into HTTP answers."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def list_session(self, locations: tuple[str, ...]) -> SessionFiles:
        """The session's hosts as they are now.

        Raises:
            LoaderError: the storage's own errors.
        """
        return await anyio.to_thread.run_sync(
            list_session,
            self._services.storage,
            locations,
            limiter=self._services.threads.storage,
        )

    async def respond(
        self,
        http: Request,
        session: SessionFiles,
        request: ToolRequest,
        file_name: str | None = None,
    ) -> Response:
        """The answer as the browser wants it: 304, or the body in its encoding.

        Raises:
            LoaderError: why there is no answer.
        """
        plan = await self._in_thread(plan_for, session, ENGINE_VERSION, request)
        encoding = choose_encoding(http.headers.get("accept-encoding"))
        headers = _headers(plan.key, encoding, file_name)
        if holds_etag(http.headers.get("if-none-match"), headers["ETag"]):
            self._services.metrics.results.labels("not_modified").inc()
            return Response(status_code=304, headers=headers)
        body = await self._open(plan, encoding)
        headers = _headers(body.key, encoding, file_name)
        if body.header.warnings:
            headers[WARNINGS_HEADER] = _ascii_warnings(body.header.warnings)
        if encoding != IDENTITY:
            headers["Content-Encoding"] = encoding
        # A HEAD answer says nothing of the length: that of the recoded body is not known yet.
        pieces = iter(()) if http.method == "HEAD" else body.pieces
        return ClosingResponse(pieces, body.close, headers, body.header.content_type)

    async def read_json(self, session: SessionFiles, request: ToolRequest) -> object:
        """A small JSON answer, parsed.

        Raises:
            LoaderError: why there is no answer.
        """
        plan = await self._in_thread(plan_for, session, ENGINE_VERSION, request)
        body = await self._open(plan, IDENTITY)
        try:
            return json.loads(b"".join([piece async for piece in body.pieces]))
        except (ConnectionError, httpx2.TransportError) as problem:
            raise LoaderError(
                ErrorCode.BUSY, "The answer broke off. Try again in a few seconds."
            ) from problem
        finally:
            await body.close()

    async def _open(self, plan: Plan, encoding: str) -> Body:
        """The body in the encoding, from the nearest place that has it."""
        cache = self._services.threads.cache
        if encoding not in {ZSTD, IDENTITY}:
            ready = await self._look_up(encoded_key(plan.key, encoding))
            if ready is not None:
                self._services.metrics.results.labels("hit").inc()
                return stored_body(plan.key, ready, cache)
        stored = await self._look_up(plan.key)
        if stored is not None:
            self._services.metrics.results.labels("hit").inc()
            ask = partial(self._services.workers.get, plan.request)
            body = stored_body(plan.key, answer_or_raise(stored), cache, ask)
        else:
            self._services.metrics.results.labels("miss").inc()
            body = worker_body(await self._services.workers.get(plan.request))
        if encoding == ZSTD:
            return body
        folder = self._services.settings.data_dir / "recoding"
        keep = partial(self._keep, encoded_key(body.key, encoding))
        return recoded_body(body, encoding, folder, cache, keep)

    async def _look_up(self, key: str) -> OpenResult | None:
        return await self._in_thread(self._services.results.open, key)

    async def _in_thread(self, call: Callable[..., T], *arguments: object) -> T:
        limiter = self._services.threads.cache
        return await anyio.to_thread.run_sync(call, *arguments, limiter=limiter)

    def _keep(self, key: str, header: ResultHeader, body: Path) -> None:
        self._services.results.put(key, header, body, self._services.settings.result_ttl_seconds)


def _headers(key: str, encoding: str, file_name: str | None) -> dict[str, str]:
    """Headers that follow from the content alone; the key names it, so it is the ETag."""
    headers = {
        "ETag": f'"{key[:40]}-{encoding}"',
        "Cache-Control": "private, no-cache",
        "Vary": "Accept-Encoding",
        "Content-Security-Policy": content_security_policy("data"),
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
