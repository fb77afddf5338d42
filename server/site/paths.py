"""Paths of the pages about runs and sessions, below whatever stands before them. Pure."""

from __future__ import annotations

from urllib.parse import quote


def run_page(before: str, run: str) -> str:
    """The page about a run, percent-encoded, without trailing slash.

    Args:
        before: the path prefix, or an address with it; empty where a template adds it.
        run: id of the run.
    """
    return f"{before}/runs/{quote(run, safe='')}"


def session_page(before: str, run: str, session: str) -> str:
    """The page about a session, below which everything of it lies for people who have signed in.

    Args:
        before: as for `run_page`.
        run: id of its run.
        session: id of the session.
    """
    return f"{run_page(before, run)}/sessions/{quote(session, safe='')}"
