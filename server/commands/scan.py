"""`xprof-hub scan` without a run: one look for new sessions where a hub runs, with the hub's own settings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType

import typer

from server.commands.exits import ExitStatus
from server.commands.hub_failures import done_where_a_hub_runs
from server.commands.tables import print_fields, say
from server.discovery.once import ScanReport, scan_once
from server.settings import Settings

_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "runs": "Runs made of folders",
        "sessions": "New sessions",
        "complete": "Sessions complete",
        "looks": "Looks",
    }
)
"""What a report counts, as it is printed."""


def run_scan(settings: Settings, *, as_json: bool) -> int:
    """Scans once; the exit status.

    Args:
        settings: of the installation.
        as_json: whether to print one JSON object.
    """
    for problem in settings.problems_with_discovery():
        say(f"xprof-hub: {problem}")
    report = done_where_a_hub_runs(lambda: scan_once(settings))
    if isinstance(report, ExitStatus):
        return report
    _print(report, as_json=as_json)
    return ExitStatus.FAILED if report.problems else ExitStatus.DONE


def _print(report: ScanReport, *, as_json: bool) -> None:
    if as_json:
        counts = {name: report.counts[name] for name in _WORDS}
        typer.echo(json.dumps({**counts, "problems": report.problems}))
        return
    print_fields([(words, str(report.counts[name])) for name, words in _WORDS.items()])
    for problem in report.problems:
        say(f"xprof-hub: {problem}")
