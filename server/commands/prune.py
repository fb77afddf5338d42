"""`xprof-hub prune`: deletes what is due, where a hub runs, with the hub's own settings."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from types import MappingProxyType

import typer

from server.commands.console import short_name
from server.commands.exits import ExitStatus
from server.commands.hub_failures import done_where_a_hub_runs
from server.commands.tables import print_fields, print_table, say
from server.lifecycle.opening import prune_once
from server.lifecycle.prune import PruneReport
from server.names import to_camel
from server.settings import Settings

_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "expired_sessions": "Sessions over",
        "runs": "Runs removed",
        "sessions": "Sessions removed",
        "leftovers": "Sessions cleared",
        "stored_things": "Artifacts, answers",
        "profiles": "Profiles",
        "places_outside": "Places outside the roots, kept",
        "audit_events": "Audit events",
        "browser_sessions": "Browser sessions",
        "device_codes": "Device codes",
        "operations": "Operations",
        "requests": "Requests",
    }
)
"""What a report counts, as it is printed."""


def run_prune(settings: Settings, *, is_dry: bool, as_json: bool, every_hours: float) -> int:
    """Prunes once, or again and again; the exit status, which comes in the first case only.

    Args:
        settings: of the installation.
        is_dry: whether only to say what would be done.
        as_json: whether to print one JSON object a pass.
        every_hours: time between two passes; 0: there is one.
    """
    while True:
        status = _prune(settings, is_dry=is_dry, as_json=as_json)
        if not every_hours:
            return status
        time.sleep(every_hours * 3600)


def _prune(settings: Settings, *, is_dry: bool, as_json: bool) -> int:
    report = done_where_a_hub_runs(lambda: prune_once(settings, is_dry=is_dry))
    if isinstance(report, ExitStatus):
        return report
    if report is None:
        say("Another process is pruning at this moment; nothing was done.")
        return ExitStatus.DONE
    _print(report, is_dry=is_dry, as_json=as_json)
    return ExitStatus.FAILED if report.problems else ExitStatus.DONE


def _print(report: PruneReport, *, is_dry: bool, as_json: bool) -> None:
    if as_json:
        counts = {to_camel(name): report.counts[name] for name in _WORDS}
        found = {
            "dryRun": is_dry,
            **counts,
            "expired": report.expired,
            "problems": report.problems,
        }
        typer.echo(json.dumps(found))
        return
    rows = [(words, str(report.counts[name])) for name, words in _WORDS.items()]
    print_fields([row for row in rows if row[1] != "0"])
    if report.expired:
        print_table(("RUN/SESSION",), [(short_name(name),) for name in report.expired])
    if not any(report.counts.values()):
        say("Nothing is due.")
    elif is_dry:
        say("Nothing was done: this is what would be.")
    for problem in report.problems:
        say(f"xprof-hub: {problem}")
    if report.problems:
        say("The next time goes on from here.")
