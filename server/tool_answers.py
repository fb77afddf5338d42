"""Answering a tool request on the front end: from the result cache, or through a worker.

The front end lists the session's files (that is the freshness), and from then on handles opaque compressed
bytes in pieces. It never reads a profile.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from pathlib import Path
from urllib.parse import quote

from fastapi import Request, Response
from fastapi.responses import StreamingResponse
from starlette.concurrency import iterate_in_threadpool, run_in_threadpool

from loader.catalog import SessionFiles, list_session
from loader.conversion import Plan
from loader.encodings import IDENTITY, ZSTD, Recoder, choose_encoding
from loader.engine.base import ENGINE_VERSION
from loader.hosts import chosen_hosts
from loader.keys import ToolRequest, encoded_key
from loader.results import OpenResult, ResultHeader, close_pieces
from loader.service import answer_or_raise, plan_for
from loader.tools import ALL_HOSTS, canonical_options, tool_named
from server.services import Services
from server.ui.shell import content_security_policy

WARNINGS_HEADER = "X-XProf-Hub-Warnings"
_WARNINGS_LIMIT = 4000


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
    return ToolRequest(session.location, tool.name, hosts, options)


class ToolAnswers:
    """Turns tool requests into HTTP answers."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def list_session(self, location: str) -> SessionFiles:
        """The session's hosts as they are now.

        Raises:
            LoaderError: the storage's own errors.
        """
        return await run_in_threadpool(list_session, self._services.storage, location)

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
        plan = plan_for(session, ENGINE_VERSION, request)
        encoding = choose_encoding(http.headers.get("accept-encoding"))
        headers = _headers(plan, encoding, file_name)
        if _matches(http.headers.get("if-none-match"), headers["ETag"]):
            self._services.metrics.results.labels("not_modified").inc()
            return Response(status_code=304, headers=headers)
        header, body = await self._open(plan, encoding)
        if header.warnings:
            headers[WARNINGS_HEADER] = _ascii_warnings(header.warnings)
        if encoding != IDENTITY:
            headers["Content-Encoding"] = encoding
        if http.method == "HEAD":
            await body.aclose()
            body = _nothing()
        return StreamingResponse(body, headers=headers, media_type=header.content_type)

    async def read_json(self, session: SessionFiles, request: ToolRequest) -> object:
        """A small JSON answer, parsed.

        Raises:
            LoaderError: why there is no answer.
        """
        _, body = await self._open(plan_for(session, ENGINE_VERSION, request), IDENTITY)
        return json.loads(b"".join([piece async for piece in body]))

    async def _open(
        self, plan: Plan, encoding: str
    ) -> tuple[ResultHeader, AsyncGenerator[bytes, None]]:
        """The body in the encoding, from the nearest place that has it."""
        results = self._services.results
        outcomes = self._services.metrics.results
        if encoding not in {ZSTD, IDENTITY}:
            ready = await run_in_threadpool(results.open, encoded_key(plan.key, encoding))
            if ready is not None:
                outcomes.labels("hit").inc()
                return ready.header, _stored(ready)
        stored = await run_in_threadpool(results.open, plan.key)
        if stored is not None:
            outcomes.labels("hit").inc()
            header = answer_or_raise(stored).header
            pieces: AsyncGenerator[bytes, None] = _stored(stored)
        else:
            outcomes.labels("miss").inc()
            answer = await self._services.workers.get(plan.request)
            header, pieces = answer.header, answer.pieces
        if encoding == ZSTD:
            return header, pieces
        return header, self._recode(plan, header, pieces, encoding)

    async def _recode(
        self, plan: Plan, header: ResultHeader, pieces: AsyncGenerator[bytes, None], encoding: str
    ) -> AsyncGenerator[bytes, None]:
        """The body in another encoding, kept for the next one who asks for it."""
        recoder = Recoder(encoding)
        async with aclosing(pieces):
            with tempfile.NamedTemporaryFile() as copy:
                async for piece in pieces:
                    out = await run_in_threadpool(recoder.feed, piece)
                    if out:
                        await run_in_threadpool(copy.write, out)
                        yield out
                out = await run_in_threadpool(recoder.finish)
                copy.write(out)
                copy.flush()
                if encoding != IDENTITY:
                    await run_in_threadpool(self._keep, plan, header, encoding, Path(copy.name))
                if out:
                    yield out

    def _keep(self, plan: Plan, header: ResultHeader, encoding: str, body: Path) -> None:
        encoded = ResultHeader(
            header.content_type, body.stat().st_size, header.raw_size, header.warnings
        )
        ttl = self._services.settings.result_ttl_seconds
        self._services.results.put(encoded_key(plan.key, encoding), encoded, body, ttl)


async def _stored(result: OpenResult) -> AsyncGenerator[bytes, None]:
    """A stored body, read off the event loop."""
    try:
        async for piece in iterate_in_threadpool(result.pieces):
            yield piece
    finally:
        close_pieces(result)


async def _nothing() -> AsyncGenerator[bytes, None]:
    """No body, and no statement of its length: that of the answer to GET is not known yet."""
    return
    yield b""


def _headers(plan: Plan, encoding: str, file_name: str | None) -> dict[str, str]:
    """Headers that follow from the request alone; the key names the content, so it is the ETag."""
    headers = {
        "ETag": f'"{plan.key[:40]}-{encoding}"',
        "Cache-Control": "private, no-cache",
        "Vary": "Accept-Encoding",
        "Content-Security-Policy": content_security_policy("data"),
    }
    if file_name is not None:
        headers["Content-Disposition"] = f"attachment; filename*=UTF-8''{quote(file_name, safe='')}"
    return headers


def _matches(if_none_match: str | None, etag: str) -> bool:
    """Whether one of the tags that the browser holds is this one (RFC 9110, 13.1.2)."""
    if if_none_match is None:
        return False
    tags = [tag.strip().removeprefix("W/") for tag in if_none_match.split(",")]
    return etag in tags or "*" in tags


def _ascii_warnings(warnings: tuple[str, ...]) -> str:
    """Warnings as ASCII JSON, cut to what a header may hold."""
    kept: list[str] = []
    for warning in warnings:
        if len(json.dumps([*kept, warning])) > _WARNINGS_LIMIT:
            break
        kept.append(warning)
    return json.dumps(kept)
