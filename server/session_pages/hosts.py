"""The files of a session as its page shows them: each host with its size, and whether it can be shown.

Looking files over takes as long as reading them, once; until then the hosts are listed without it.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from loader.catalog import SessionFiles
from loader.errors import COMES_BACK, LoaderError
from loader.keys import ToolRequest
from loader.tools import HEALTH, RUN_TOOLS
from server.figures.freshness import Wish
from server.http.coming_back import busy_sentence, seconds_of_page
from server.http.error_table import SOON_SECONDS
from server.registry.records import ProfilerSession
from server.services import Services
from server.session_pages.addresses import SessionAddresses
from server.session_pages.tools import AbsentTools, ToolLink, absent_tools, tool_links
from server.sessions.inspection import inspect_session
from server.sessions.problems import count_hosts, problem_of
from server.sessions.schemas import HostHealth
from server.xprof.tool_answers import ToolAnswers
from server.xprof.tool_fitness import unfit_tools

_PATIENCE = ("respond-async, wait=2",)
_TROUBLE_FIRST: Mapping[str, int] = MappingProxyType({"bad": 0, "warn": 1})
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class HostRow:
    """One host.

    Attributes:
        name: of the host.
        file: of its profile.
        bytes: size of that.
        state: `good`, `warn`, `bad`, or empty while nobody has looked.
        word: the same for people.
        notes: why it can't be shown, or what is odd about it.
        href: where the original is downloaded.
    """

    name: str
    file: str
    bytes: int
    state: str
    word: str
    notes: tuple[str, ...]
    href: str


@dataclass(frozen=True)
class HostsPart:
    """The part of the page about files and tools.

    Attributes:
        count: `3 of 4 hosts`.
        is_whole: whether none is missing or damaged, as far as is known.
        total_bytes: size of all profiles.
        rows: the hosts, sorted; those with trouble first.
        problem: what is wrong with the session as a whole, in words.
        trouble: why nothing can be said now, in words.
        is_looking: whether the files are being looked over, or will be, so that asking again helps.
        again_seconds: when the page asks again, where a worker that was busy has said so; else 0.
        tools: those that have something to show.
        absent: those that have not.
    """

    count: str
    is_whole: bool
    total_bytes: int
    rows: tuple[HostRow, ...]
    tools: tuple[ToolLink, ...]
    absent: tuple[AbsentTools, ...] = ()
    problem: str = ""
    trouble: str = ""
    is_looking: bool = False
    again_seconds: int = 0


async def look_at_hosts(
    services: Services, record: ProfilerSession, addresses: SessionAddresses
) -> HostsPart:
    """Lists the files, and says what is known of them after two seconds at most (and the storage's own time).

    Args:
        services: the front end's parts.
        record: the session.
        addresses: of its pages.
    """
    answers = ToolAnswers(services)
    try:
        files = await answers.list_session(record.locations)
    except LoaderError as error:
        return HostsPart("No hosts", False, 0, (), (), trouble=error.message)
    services.figures.ask(record, Wish.MADE, files)
    rows: list[HostHealth] = []
    trouble, is_looking, again_seconds = "", False, 0
    try:
        asked = ToolRequest(files.locations, HEALTH)
        is_looking = await answers.come_back_later(_PATIENCE, files, asked) is not None
        if not is_looking:
            rows = await inspect_session(answers, files)
    except LoaderError as error:
        trouble = f"The files could not be looked over: {error.message}"
        if error.code in COMES_BACK:
            trouble, is_looking = busy_sentence(error), True
            again_seconds = seconds_of_page(error.retry_after or SOON_SECONDS)
    offered = await _offered_tools(answers, files)
    part = hosts_part(record, addresses, files, rows, offered, trouble, is_looking=is_looking)
    return replace(part, again_seconds=again_seconds)


def hosts_part(
    record: ProfilerSession,
    addresses: SessionAddresses,
    files: SessionFiles,
    rows: Sequence[HostHealth],
    offered: Collection[str] = (),
    trouble: str = "",
    *,
    is_looking: bool = False,
) -> HostsPart:
    """The part, from what is known; pure."""
    by_host = {row.host: row for row in rows}
    count = count_hosts(record.expected_hosts, files.host_names, rows)
    problem = problem_of(count)
    usable = sum(by_host[host].usable if host in by_host else True for host in files.host_names)
    shown = [
        _row(addresses, entry.host, entry.file.name, entry.file.size, by_host.get(entry.host))
        for entry in files.hosts
    ]
    absent = unfit_tools(rows)
    return HostsPart(
        count=count_text(usable, max(count.expected or 0, len(files.hosts))),
        is_whole=problem is None and usable == len(files.hosts),
        total_bytes=sum(entry.file.size for entry in files.hosts),
        rows=tuple(sorted(shown, key=lambda row: _TROUBLE_FIRST.get(row.state, 2))),
        tools=tool_links(addresses, offered, absent) if usable else (),
        absent=absent_tools(absent),
        problem=problem.message if problem else "",
        trouble=trouble,
        is_looking=is_looking,
    )


def count_text(usable: int, all_hosts: int) -> str:
    """`3 of 4 hosts` when some are missing, else `4 hosts`."""
    if usable < all_hosts:
        return f"{usable} of {all_hosts} hosts"
    return "1 host" if all_hosts == 1 else f"{all_hosts} hosts"


def _row(
    addresses: SessionAddresses, host: str, file: str, size: int, health: HostHealth | None
) -> HostRow:
    state, word = "", ""
    notes: tuple[str, ...] = ()
    if health is not None and not health.usable:
        state, word = "bad", "Can't be shown"
        notes = (health.message,) if health.message else ()
    elif health is not None:
        notes = health.warnings
        state, word = ("warn", "Shown, with notes") if notes else ("good", "Good")
    return HostRow(host, file, size, state, word, notes, addresses.file(host))


async def _offered_tools(answers: ToolAnswers, files: SessionFiles) -> frozenset[str]:
    """The tools that XProf lists for these files, if it was asked before; nothing is converted for it."""
    asked = ToolRequest(files.locations, RUN_TOOLS)
    try:
        if not await answers.is_kept(files, asked):
            return frozenset()
        found = await answers.read_json(files, asked)
    except (LoaderError, json.JSONDecodeError) as problem:
        logger.info("the list of tools can't be recalled: %s", type(problem).__name__)
        return frozenset()
    names = found if isinstance(found, list) else []
    return frozenset(name for name in names if isinstance(name, str))
