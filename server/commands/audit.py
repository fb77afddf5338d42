"""`xprof-hub audit`: who did what, and when."""

from __future__ import annotations

from itertools import islice
from typing import Annotated

import typer

from server.client.audit import NEWEST_FIRST, OLDEST_FIRST
from server.commands.console import (
    ConditionOption,
    JsonLinesOption,
    JsonOption,
    LimitOption,
    TokenOption,
    UrlOption,
    connected,
    examples,
    last_part,
    moment,
    print_fields,
    print_json,
    print_list,
    short_name,
)
from server.schemas.audit import AuditEvent

app = typer.Typer(help="The audit log: who did what, and when.", no_args_is_help=True)


@app.command(
    "list",
    epilog=examples(
        "xprof-hub audit list --limit 20",
        "xprof-hub audit list --filter 'action = \"links.create\"'",
    ),
)
def list_(
    condition: ConditionOption = "",
    limit: LimitOption = None,
    url: UrlOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
    as_lines: JsonLinesOption = False,
) -> None:
    """List events, newest first."""
    with connected(url, token) as client:
        print_list(
            islice(client.audit.list(condition, NEWEST_FIRST), limit),
            as_json,
            ("EVENT", "TIME", "WHO", "DID", "TO", "FROM"),
            lambda event: (
                last_part(event.name),
                moment(event.create_time),
                event.actor_name or event.actor,
                event.verb,
                _object(event),
                event.address,
            ),
            as_lines,
        )


@app.command(epilog=examples("xprof-hub audit show 0123456789abcdef"))
def show(
    event: Annotated[str, typer.Argument(metavar="EVENT", help="Id, as `audit list` shows it.")],
    url: UrlOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Show one event."""
    with connected(url, token) as client:
        found = client.audit.get(last_part(event))
    if as_json:
        print_json(found)
        return
    print_fields(
        [
            ("Event", last_part(found.name)),
            ("Time", found.create_time.isoformat()),
            ("Actor", f"{found.actor} {found.actor_name}".strip()),
            ("Action", found.action),
            ("Verb", found.verb),
            ("Resource", found.resource),
            ("Address", found.address),
            *((f"  {key}", str(value)) for key, value in found.details.items()),
        ]
    )


@app.command(
    epilog=examples(
        "xprof-hub audit export > audit.jsonl",
        "xprof-hub audit export --filter 'createTime > \"2026-01-31T12:00:00Z\"' >> audit.jsonl",
    )
)
def export(
    condition: ConditionOption = "",
    url: UrlOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Print all events, oldest first: one JSON object a line as they come, or one list of all."""
    with connected(url, token) as client:
        found = client.audit.list(condition, OLDEST_FIRST)
        print_list(found, as_json, (), lambda _event: (), as_lines=not as_json)


def _object(event: AuditEvent) -> str:
    """What it was done to, and of links and members also whose, as their ids say nothing to people."""
    told = (event.details.get(key) for key in ("target", "member"))
    return " ".join([short_name(event.resource), *(short_name(str(one)) for one in told if one)])
