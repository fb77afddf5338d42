"""`xprof-hub import` and `scan`: have the hub take a folder of profiles in, or look for sessions now."""

from __future__ import annotations

import shlex
from typing import Annotated, NoReturn

import typer

from server.commands.console import (
    JsonLinesOption,
    JsonOption,
    TokenOption,
    UrlOption,
    connected,
    examples,
    hub_location,
    last_part,
    print_json,
    print_list,
    say,
)
from server.commands.progress import progress_bar
from server.schemas.discovery import ImportedRun

IMPORT_EXAMPLES = examples(
    "xprof-hub import gs://my-bucket/experiments --dry-run",
    "xprof-hub import gs://my-bucket/experiments",
    "xprof-hub import /data/logs/llama-8b",
)
SCAN_EXAMPLES = examples("xprof-hub scan llama-8b", "xprof-hub scan --json")
_MOST_ROWS = 50


def import_(
    location: Annotated[
        str,
        typer.Argument(
            metavar="LOCATION",
            help="Folder whose folders are runs' folders, or one run's own: gs:// or a directory of the hub.",
        ),
    ],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would become a run; change nothing.")
    ] = False,
    after: Annotated[
        str, typer.Option("--after", metavar="POSITION", help="Where an import was broken off.")
    ] = "",
    url: UrlOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
    as_lines: JsonLinesOption = False,
) -> None:
    """Make runs of all folders below that hold profiles; nothing is copied, and twice does no harm."""
    location = hub_location(location)
    walk = _Walk(after)
    with connected(url, token) as client:
        try:
            with progress_bar("looking") as advance:
                pages = client.discovery.import_pages(location, is_dry=dry_run, after=after)
                for page in pages:
                    walk.add(page.runs, page.looked_into, page.next_page_token)
                    advance(walk.summary(is_dry=dry_run), walk.looked, 0)
        except BaseException:
            _say_how_to_go_on(location, walk.position)
            raise
    rows = walk.runs if as_json or as_lines else walk.runs[:_MOST_ROWS]
    if rows:
        print_list(rows, as_json, ("RUN", "STATE", "SESSIONS", "NEW"), _row, as_lines=as_lines)
    elif as_json:
        print_json([])
    if len(rows) < len(walk.runs):
        say(f"... and {len(walk.runs) - len(rows)} more runs")
    say(walk.summary(is_dry=dry_run))


def scan(
    run: Annotated[
        str,
        typer.Argument(
            metavar="RUN", help="Id of the run. Without it: everything, where a hub runs."
        ),
    ] = "",
    url: UrlOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Look for new sessions now, instead of waiting for the hub to do so.

    Without RUN it looks where a hub runs, in XPROF_HUB_SCAN_ROOTS and at all else that is due.
    """
    if not run:
        _scan_here(as_json=as_json)
    with connected(url, token) as client:
        found = client.discovery.scan(run)
    if as_json:
        print_json(found)
        return
    typer.echo(
        f"{found.new_sessions} new sessions; {found.open_sessions} whose hosts may still come"
    )


def _scan_here(*, as_json: bool) -> NoReturn:
    # This loads the whole server, which talking to a hub does not need.
    from server.commands.hub_settings import load_settings
    from server.commands.scan import run_scan
    from server.machine.logs import configure_logs

    settings = load_settings()
    configure_logs(settings.log_level, google_project=settings.google_project)
    raise typer.Exit(run_scan(settings, as_json=as_json))


class _Walk:
    """What the pages so far have brought."""

    def __init__(self, position: str) -> None:
        self.runs: list[ImportedRun] = []
        self.looked = 0
        self.position = position

    def add(self, runs: tuple[ImportedRun, ...], looked: int, position: str) -> None:
        """Adds a page."""
        self.runs += runs
        self.looked += looked
        self.position = position

    def summary(self, *, is_dry: bool) -> str:
        """One line with all counts."""
        new = sum(run.outcome == "NEW" for run in self.runs)
        sessions = sum(run.sessions for run in self.runs)
        new_sessions = sum(run.new_sessions for run in self.runs)
        would = " (dry run: nothing was changed)" if is_dry else ""
        return (
            f"{_count(self.looked, 'folder')} looked into: {_count(len(self.runs), 'run')}, {new} of them "
            f"new, with {_count(sessions, 'session')}, {new_sessions} of them new{would}"
        )


def _count(number: int, name: str) -> str:
    return f"{number} {name}{'' if number == 1 else 's'}"


def _row(run: ImportedRun) -> tuple[str, str, str, str]:
    return (last_part(run.run), run.outcome.lower(), str(run.sessions), str(run.new_sessions))


def _say_how_to_go_on(location: str, position: str) -> None:
    if position:
        say(f"Go on with: xprof-hub import {shlex.quote(location)} --after {shlex.quote(position)}")
