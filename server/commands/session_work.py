"""`xprof-hub sessions health` and `prewarm`: what takes a hub's workers a while, with a bar for who waits."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from server.client import HubClient
from server.commands.console import (
    JsonOption,
    SessionArgument,
    TokenOption,
    UrlOption,
    connected,
    examples,
    print_fields,
    print_json,
    print_table,
    split_session,
)
from server.commands.progress import progress_bar
from server.commands.terminal import print_line
from server.schemas import Session
from server.schemas.progress import AnswerProgress
from server.sessions.schemas import HostHealth, SessionHealth
from server.ui.words import size

HEALTH_EXAMPLES = examples("xprof-hub sessions health llama-8b/2026_01_31")
PREWARM_EXAMPLES = examples(
    "xprof-hub sessions prewarm llama-8b/2026_01_31 --wait",
    "xprof-hub sessions prewarm llama-8b/2026_01_31 --cancel",
)
_UNDER_WAY = frozenset({"waiting", "running"})
_LOOK_SECONDS = 1.0
_PHASES = {
    "wait": "waiting for others",
    "download": "fetching",
    "inspect": "looking through",
    "convert": "converting",
}


def health(
    session: SessionArgument,
    url: UrlOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Look every host's file over: which can be shown, why the others can't, which are missing."""
    run, session_id = split_session(session)
    with connected(url, token) as client, progress_bar("looking through") as advance:

        def tell(progress: AnswerProgress) -> None:
            doing = _PHASES.get(progress.phase or "", "looking through")
            advance(doing, progress.done_bytes, progress.total_bytes)

        found = client.sessions.health(run, session_id, on_progress=tell)
    if as_json:
        print_json(found)
    else:
        _print_health(session, found)


def prewarm(
    session: SessionArgument,
    wait: Annotated[bool, typer.Option("--wait", help="Come back when it has ended.")] = False,
    cancel: Annotated[bool, typer.Option("--cancel", help="End it.")] = False,
    url: UrlOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Show how far the conversion in advance of a session is, wait for it, or end it."""
    if wait and cancel:
        raise typer.BadParameter("Either --wait or --cancel.")
    run, session_id = split_session(session)
    with connected(url, token) as client:
        if cancel:
            found = client.sessions.cancel_prewarm(run, session_id)
        elif wait:
            found = _wait(client, run, session_id)
        else:
            found = client.sessions.get(run, session_id)
    if as_json:
        print_json(found)
    else:
        print_line(found.prewarm or "skipped")


def _wait(client: HubClient, run: str, session: str) -> Session:
    with progress_bar("converting in advance") as advance:
        while True:
            found = client.sessions.get(run, session)
            if found.prewarm not in _UNDER_WAY:
                return found
            advance(f"converting in advance: {found.prewarm}", 0, 0)
            time.sleep(_LOOK_SECONDS)


def _print_health(session: str, found: SessionHealth) -> None:
    expected = f" of {found.expected_hosts}" if found.expected_hosts else ""
    print_fields(
        [
            ("Session", session),
            ("Hosts", f"{found.found_hosts}{expected}, {found.usable_hosts} can be shown"),
            ("Problem", found.problem or ""),
        ]
    )
    typer.echo()
    rows = [(host.host, size(host.size), host.file, _verdict(host)) for host in found.hosts]
    print_table(("HOST", "SIZE", "FILE", "VERDICT"), rows)
    if found.tools:
        typer.echo()
        print_table(
            ("NOTHING TO SHOW IN", "WHY"), [(note.title, note.reason) for note in found.tools]
        )


def _verdict(host: HostHealth) -> str:
    if not host.usable:
        return host.message or host.reason or "can't be shown"
    return " ".join(host.warnings) or "ok"
