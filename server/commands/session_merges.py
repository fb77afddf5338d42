"""`xprof-hub sessions mergeable` and `merge`: one session of hosts that landed in different folders."""

from __future__ import annotations

from typing import Annotated

import typer

from server.commands.console import (
    JsonOption,
    RunArgument,
    TokenOption,
    UrlOption,
    connected,
    examples,
    last_part,
    moment,
    print_json,
    print_list,
    say,
)
from server.commands.terminal import print_line
from server.sessions.schemas import NewMerge

MERGEABLE_EXAMPLES = examples("xprof-hub sessions mergeable llama-8b")
MERGE_EXAMPLES = examples(
    "xprof-hub sessions merge llama-8b 2026_01_31_12_00_00 2026_01_31_12_00_02"
)
_FEWEST_MERGED = 2
_BASIS = {"profile": "times in the profiles", "folderName": "names of the folders"}


def mergeable(
    run: RunArgument,
    url: UrlOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """List sessions of a run that are hosts of one capture and can be shown as one."""
    with connected(url, token) as client:
        found = client.sessions.list_merge_offers(run)
    print_list(
        found,
        as_json,
        ("SESSIONS", "HOSTS", "FROM", "OVERLAP", "BASIS"),
        lambda offer: (
            " ".join(last_part(name) for name in offer.sessions),
            " ".join(offer.hosts),
            moment(offer.start_time),
            "" if offer.overlap_seconds is None else f"{offer.overlap_seconds:.3f} s",
            _BASIS[offer.basis],
        ),
    )


def merge(
    run: RunArgument,
    sessions: Annotated[
        list[str], typer.Argument(metavar="SESSION...", help="Ids of two sessions or more.")
    ],
    session_id: Annotated[
        str,
        typer.Option(
            "--id", help="Id of the merged session; made from the first one's unless set."
        ),
    ] = "",
    name: Annotated[str, typer.Option(help="Name for people.")] = "",
    url: UrlOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Make one session of several that are hosts of one capture; delete it to undo that."""
    if len(sessions) < _FEWEST_MERGED:
        raise typer.BadParameter("Name two sessions or more.")
    body = NewMerge(sessions=sessions, profiler_session_id=session_id or None, display_name=name)
    with connected(url, token) as client:
        merged = client.sessions.merge(run, body)
    if as_json:
        print_json(merged)
        return
    print_line(f"{run}/{last_part(merged.name)}")
    if merged.problem:
        say(merged.problem)
