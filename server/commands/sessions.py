"""`xprof-hub sessions`: attach profiles to a run, list, show, change and take off sessions.

What looks into profiles (`health`, `prewarm`) and what joins sessions (`mergeable`, `merge`) have files of
their own.
"""

from __future__ import annotations

from itertools import islice
from typing import Annotated

import typer
from pydantic import JsonValue

from server.commands import session_merges, session_work
from server.commands.changes import EtagOption, SetOption, UnsetOption, read_changes
from server.commands.console import (
    ConditionOption,
    DeletedOption,
    JsonLinesOption,
    JsonOption,
    LimitOption,
    OrderOption,
    RunArgument,
    SessionArgument,
    TokenOption,
    UrlOption,
    YesOption,
    confirm,
    connected,
    examples,
    hub_location,
    last_part,
    moment,
    print_fields,
    print_json,
    print_list,
    print_table,
    say,
    split_session,
    state_text,
)
from server.commands.terminal import print_line
from server.schemas import Session
from server.ui.words import size

app = typer.Typer(help="Sessions: profiles of one or many hosts.", no_args_is_help=True)
app.command("health", epilog=session_work.HEALTH_EXAMPLES)(session_work.health)
app.command("prewarm", epilog=session_work.PREWARM_EXAMPLES)(session_work.prewarm)
app.command("mergeable", epilog=session_merges.MERGEABLE_EXAMPLES)(session_merges.mergeable)
app.command("merge", epilog=session_merges.MERGE_EXAMPLES)(session_merges.merge)

HostsOption = Annotated[
    int | None, typer.Option(min=1, help="How many hosts took part, to notice missing ones.")
]


@app.command(
    epilog=examples(
        "xprof-hub sessions attach llama-8b gs://bucket/llama-8b/plugins/profile/2026_01_31",
        "xprof-hub sessions attach llama-8b ./logs --id step-1000 --hosts 4",
    )
)
def attach(
    run: RunArgument,
    location: Annotated[
        str,
        typer.Argument(
            help="gs:// address or directory of a session, log directory or .xplane.pb."
        ),
    ],
    session_id: Annotated[
        str, typer.Option("--id", help="Id of the session; its folder's name unless set.")
    ] = "",
    name: Annotated[str, typer.Option(help="Name for people; the id unless set.")] = "",
    hosts: HostsOption = None,
    prewarm: Annotated[bool, typer.Option(help="Convert its first page in advance.")] = True,
    sets: SetOption = None,
    url: UrlOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Attach a profile to a run and print the session."""
    plain: dict[str, JsonValue] = {
        "storageFolderUri": hub_location(location),
        "displayName": name,
        "expectedHosts": hosts,
    }
    body, _ = read_changes(Session, plain, sets or ())
    with connected(url, token) as client:
        attached = client.sessions.attach(run, body, session_id, prewarm=prewarm)
    if as_json:
        print_json(attached)
        return
    print_line(f"{run}/{last_part(attached.name)}")
    if attached.problem:
        say(attached.problem)


@app.command(
    "list",
    epilog=examples(
        "xprof-hub sessions list llama-8b",
        "xprof-hub sessions list llama-8b --filter 'kind = SCANNED AND state = COMPLETE'",
    ),
)
def list_(
    run: RunArgument,
    condition: ConditionOption = "",
    order_by: OrderOption = "",
    limit: LimitOption = None,
    deleted: DeletedOption = False,
    url: UrlOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
    as_lines: JsonLinesOption = False,
) -> None:
    """List a run's sessions, newest first."""
    with connected(url, token) as client:
        print_list(
            islice(client.sessions.list(run, condition, order_by, show_deleted=deleted), limit),
            as_json,
            ("RUN/SESSION", "NAME", "KIND", "STATE", "ATTACHED", "LOCATION"),
            lambda session: (
                f"{run}/{last_part(session.name)}",
                session.display_name,
                (session.kind or "").lower(),
                state_text("DELETED" if session.delete_time else session.state),
                moment(session.create_time),
                session.storage_folder_uri,
            ),
            as_lines,
            optional=("LOCATION", "KIND"),
        )


@app.command(
    epilog=examples(
        "xprof-hub sessions show llama-8b/2026_01_31",
        "xprof-hub sessions show llama-8b/2026_01_31 --json | jq -r .dashboardUri",
    )
)
def show(
    session: SessionArgument,
    url: UrlOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Show a session with the hosts that are there now."""
    run, session_id = split_session(session)
    with connected(url, token) as client:
        found = client.sessions.get(run, session_id)
    if as_json:
        print_json(found)
        return
    _print_session(session, found)


@app.command(
    epilog=examples(
        "xprof-hub sessions update llama-8b/2026_01_31 --name 'step 1000' --hosts 4",
        "xprof-hub sessions update llama-8b/2026_01_31 --set state=COMPLETE",
        "xprof-hub sessions update llama-8b/2026_01_31 --set pinned=true",
        "xprof-hub sessions update llama-8b/2026_01_31 --set ttl=30d",
    )
)
def update(
    session: SessionArgument,
    name: Annotated[str, typer.Option(help="Name for people.")] = "",
    hosts: HostsOption = None,
    sets: SetOption = None,
    unsets: UnsetOption = None,
    etag: EtagOption = "",
    url: UrlOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Change fields of a session; all others stay as they are."""
    run, session_id = split_session(session)
    plain: dict[str, JsonValue] = {"displayName": name, "expectedHosts": hosts}
    body, mask = read_changes(Session, plain, sets or (), unsets or ())
    if not mask:
        raise typer.BadParameter("Say what to change: --name, --hosts, --set or --unset.")
    with connected(url, token) as client:
        changed = client.sessions.update(run, session_id, body, mask, etag=etag)
    if as_json:
        print_json(changed)
    else:
        say(f"Changed {', '.join(mask)} of session {session}.")


@app.command(epilog=examples("xprof-hub sessions delete llama-8b/2026_01_31"))
def delete(
    session: SessionArgument,
    yes: YesOption = False,
    url: UrlOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Take a session off its run and end its links; the profile in storage stays."""
    run, session_id = split_session(session)
    confirm(f"Delete session {session} with its links?", yes)
    with connected(url, token) as client:
        client.sessions.delete(run, session_id)
    if as_json:
        typer.echo("{}")
    else:
        say(f"Took {session} off its run and ended its links. The profile in storage stays.")
        say(f"For some days it can come back: xprof-hub sessions undelete {session}")


@app.command(epilog=examples("xprof-hub sessions undelete llama-8b/2026_01_31"))
def undelete(
    session: SessionArgument,
    url: UrlOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Bring back a session that was deleted; its links stay ended."""
    run, session_id = split_session(session)
    with connected(url, token) as client:
        found = client.sessions.undelete(run, session_id)
    if as_json:
        print_json(found)
    else:
        pinned = " It is pinned, because its time is over." if found.pinned else ""
        say(f"Session {session} is back. Its links stay ended.{pinned}")


def _print_session(name: str, found: Session) -> None:
    print_fields(
        [
            ("Session", name),
            ("Name", found.display_name),
            ("Kind", (found.kind or "").lower()),
            ("State", (found.state or "").lower()),
            ("Location", ", ".join(found.storage_folder_uris or [found.storage_folder_uri])),
            ("Merged from", ", ".join(last_part(part) for part in found.merged_from or ())),
            ("Page", found.dashboard_uri),
            ("Attempt", "" if found.attempt is None else str(found.attempt)),
            ("Captured", moment(found.start_time)),
            ("Attached", moment(found.create_time)),
            ("Creator", found.creator),
            ("Deleted on", moment(found.due_time)),
            ("Kept", ", ".join(found.kept_because or ()).lower().replace("_", " ")),
            ("Prewarm", found.prewarm or ""),
            ("Hosts", _host_count(found)),
            ("Problem", found.problem or ""),
        ]
    )
    if found.hosts:
        typer.echo()
        rows = [(host.host, size(host.size_bytes), host.file) for host in found.hosts]
        print_table(("HOST", "SIZE", "FILE"), rows)


def _host_count(session: Session) -> str:
    if session.expected_hosts is None or session.found_hosts is None:
        return ""
    return f"{session.found_hosts} of {session.expected_hosts}"
