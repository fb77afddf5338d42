"""The first glance of a page, read from an answer that is kept already.

A page must never wait for its glance: nothing is converted for it, no worker is asked, and an answer that is
missing, large or damaged gives none.
"""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Mapping
from dataclasses import replace

import anyio.to_thread
import zstandard

from loader.caches.results import OpenResult, ResultStore, close_pieces
from loader.catalog import SessionFiles
from loader.errors import LoaderError
from loader.hosts import host_menu
from loader.plan import plan_for
from loader.tools import tool_named
from server.services import Services
from server.ui.glance import Glance, read_glance
from server.xprof.queries import read_tool_request

OVERVIEW = "overview_page"
_MOST_BYTES = 1 << 20
"""Of a parsed answer. A larger one takes more time to read than its glance would save."""
logger = logging.getLogger(__name__)


async def first_glance(
    services: Services,
    session: SessionFiles,
    tool: str,
    query: Mapping[str, str],
    redaction: str = "",
) -> Glance | None:
    """What the page can show of the overview at once; None when another tool is asked, or nothing is kept.

    Args:
        services: the front end's parts.
        session: the session's files as they are now.
        tool: the tool that the page will open.
        query: the page's query, as XProf reads it.
        redaction: as in `ToolRequest`.
    """
    if tool != OVERVIEW:
        return None
    # One thread for all of it: every change of threads takes about as long as the reading.
    return await anyio.to_thread.run_sync(
        kept_glance,
        services.results,
        services.engine_version,
        session,
        query,
        redaction,
        limiter=services.threads.cache,
    )


def opened_tool(name: str, query: Mapping[str, str]) -> str:
    """The tool that XProf opens for an address: its query names it, else the last part of its path.

    Args:
        name: the path below `/data/plugin/profile/`; empty or `index.html` for the page itself.
        query: the page's query.
    """
    path = "" if name == "index.html" else name.rstrip("/")
    return query.get("tag") or path or OVERVIEW


def overview_host(session: SessionFiles, query: Mapping[str, str]) -> str | None:
    """The host that XProf's overview will ask for: the address's if the menu has it, else the first one."""
    menu = host_menu(tool_named(OVERVIEW), session.host_names)
    asked = query.get("host")
    return asked if asked in menu else next(iter(menu), None)


def kept_glance(
    results: ResultStore,
    engine_version: str,
    session: SessionFiles,
    query: Mapping[str, str],
    redaction: str = "",
) -> Glance | None:
    """The glance of the overview that a store holds for these files; None when it holds none of use."""
    host = overview_host(session, query)
    try:
        asked = read_tool_request(session, OVERVIEW, {"host": host} if host else {})
        plan = plan_for(session, engine_version, replace(asked, redaction=redaction))
    except LoaderError:
        return None
    stored = results.open(plan.key)
    if stored is None:
        return None
    try:
        return read_glance(_parse(stored))
    except (ValueError, RecursionError, OSError, zstandard.ZstdError) as problem:
        logger.warning("a kept overview gives no first glance: %s", type(problem).__name__)
        return None
    finally:
        close_pieces(stored)


def _parse(stored: OpenResult) -> object:
    """A small answer, parsed; None for a failure and for a large one."""
    header = stored.header
    if header.error is not None or max(header.raw_size, header.size) > _MOST_BYTES:
        return None
    packed = io.BytesIO(b"".join(stored.pieces))
    with zstandard.ZstdDecompressor().stream_reader(packed) as reader:
        return json.loads(reader.read(_MOST_BYTES + 1))
