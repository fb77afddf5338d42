"""What a session's page says of its hosts: how many can be shown, why not the others, and what is odd."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from loader.catalog import SessionFiles
from loader.errors import ErrorCode, LoaderError
from server.schemas import ApiModel
from server.sessions.problems import count_hosts, problem_of
from server.sessions.schemas import HostHealth, ToolNote
from server.xprof.tool_fitness import unfit_tools


class HostNote(ApiModel):
    """A sentence about one host's file."""

    host: str | None
    file: str | None
    reason: str | None = None
    message: str


class SessionStatus(ApiModel):
    """How a session is, for its page."""

    state: Literal["ok", "problem", "incomplete", "unknown"]
    """`incomplete`: hosts are still to come, or a file is still being written, so that asking again helps.
    `unknown`: nobody could look at the files just now, which says nothing against them."""
    hosts: tuple[str, ...] = ()
    """Hosts whose files are there."""
    expected_hosts: int | None = None
    """How many took part; missing when nobody said."""
    problems: tuple[HostNote, ...] = ()
    """Why hosts can't be shown."""
    warnings: tuple[HostNote, ...] = ()
    """What is odd about hosts that are shown."""
    notes: tuple[str, ...] = ()
    """Sentences about the session as a whole."""
    tools: tuple[ToolNote, ...] = ()
    """Tools of XProf that have nothing to show for this session, and why."""


_LIES_IN_FILES = frozenset(
    {
        ErrorCode.NOT_FOUND,
        ErrorCode.BUCKET_NOT_FOUND,
        ErrorCode.PERMISSION_DENIED,
        ErrorCode.MALFORMED,
        ErrorCode.TOO_LARGE,
        ErrorCode.INCOMPLETE,
    }
)
"""Failures that say something about the session; all others are trouble of the moment, or ours."""


def status_of_failure(error: LoaderError) -> SessionStatus:
    """The status of a session whose files can't be looked at."""
    if error.code not in _LIES_IN_FILES:
        return SessionStatus(state="unknown", notes=(error.message,))
    problem = HostNote(host=None, file=error.file, reason=error.code.value, message=error.message)
    state = "incomplete" if error.code is ErrorCode.INCOMPLETE else "problem"
    return SessionStatus(state=state, problems=(problem,))


def status_of_session(
    session: SessionFiles, rows: Sequence[HostHealth], registered: int | None
) -> SessionStatus:
    """The status of a session.

    Args:
        session: its files.
        rows: what the inspection says of each.
        registered: how many hosts took part, if the session's maker said so.
    """
    problems = tuple(
        HostNote(host=row.host, file=row.file, reason=row.reason, message=row.message or "")
        for row in rows
        if not row.usable
    )
    warnings = tuple(
        HostNote(host=row.host, file=row.file, message=text)
        for row in rows
        if row.usable
        for text in row.warnings
    )
    count = count_hosts(registered, session.host_names, rows)
    missing = problem_of(count)
    is_incomplete = missing is not None or any(row.reason == ErrorCode.INCOMPLETE for row in rows)
    return SessionStatus(
        state="incomplete" if is_incomplete else "problem" if problems else "ok",
        hosts=session.host_names,
        expected_hosts=count.expected,
        problems=problems,
        warnings=warnings,
        notes=(missing.message,) if missing else (),
        tools=unfit_tools(rows),
    )


def missing_hosts(registered: int | None, session: SessionFiles) -> tuple[str, ...]:
    """The warning that goes with an answer from all hosts while some are not there; empty when all are."""
    found = len(session.hosts)
    if registered is None or found >= registered:
        return ()
    return (f"{found} of {registered} hosts; the files of the others are not there",)
