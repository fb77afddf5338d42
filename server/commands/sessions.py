"""`xprof-hub sessions`: attach profiles to a run, list, show, merge and take off sessions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from server.client import DEFAULT_URL
from server.commands.console import (
    JsonOption,
    RunArgument,
    SessionArgument,
    TokenOption,
    UrlOption,
    YesOption,
    confirm,
    connected,
    last_part,
    moment,
    print_fields,
    print_json,
    print_list,
    print_table,
    size,
    split_session,
)
from server.schemas import Session
from server.session_schemas import NewMerge

_FEWEST_MERGED = 2
_BASIS = {"profile": "times in the profiles", "folderName": "names of the folders"}

app = typer.Typer(help="Sessions: profiles of one or many hosts.", no_args_is_help=True)


@app.command()
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
    hosts: Annotated[
        int | None, typer.Option(min=1, help="How many hosts took part, to notice missing ones.")
    ] = None,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Attach a profile to a run."""
    body = Session(storage_folder_uri=_absolute(location), display_name=name, expected_hosts=hosts)
    with connected(url, token) as client:
        attached = client.attach_session(run, body, session_id)
    if as_json:
        print_json(attached)
        return
    typer.echo(f"{run}/{last_part(attached.name)}")
    if attached.problem:
        typer.echo(attached.problem, err=True)


@app.command("list")
def list_(
    run: RunArgument,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """List a run's sessions, newest first."""
    with connected(url, token) as client:
        found = list(client.list_sessions(run))
    print_list(
        found,
        as_json,
        ("RUN/SESSION", "NAME", "ATTACHED", "LOCATION"),
        lambda session: (
            f"{run}/{last_part(session.name)}",
            session.display_name,
            moment(session.create_time),
            session.storage_folder_uri,
        ),
    )


@app.command()
def show(
    session: SessionArgument,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Show a session with the hosts that are there now."""
    run, session_id = split_session(session)
    with connected(url, token) as client:
        found = client.get_session(run, session_id)
    if as_json:
        print_json(found)
        return
    print_fields(
        [
            ("Session", session),
            ("Name", found.display_name),
            ("Location", ", ".join(found.storage_folder_uris or [found.storage_folder_uri])),
            ("Merged from", ", ".join(last_part(name) for name in found.merged_from or ())),
            ("Attached", moment(found.create_time)),
            ("Creator", found.creator),
            ("Hosts", _host_count(found)),
            ("Problem", found.problem or ""),
        ]
    )
    if found.hosts:
        typer.echo()
        rows = [(host.host, size(host.size_bytes), host.file) for host in found.hosts]
        print_table(("HOST", "SIZE", "FILE"), rows)


@app.command()
def mergeable(
    run: RunArgument,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """List sessions of a run that are hosts of one capture and can be shown as one."""
    with connected(url, token) as client:
        found = client.list_merge_offers(run)
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


@app.command()
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
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Make one session of several that are hosts of one capture; delete it to undo that."""
    if len(sessions) < _FEWEST_MERGED:
        raise typer.BadParameter("Name two sessions or more.")
    body = NewMerge(sessions=sessions, profiler_session_id=session_id or None, display_name=name)
    with connected(url, token) as client:
        merged = client.merge_sessions(run, body)
    if as_json:
        print_json(merged)
        return
    typer.echo(f"{run}/{last_part(merged.name)}")
    if merged.problem:
        typer.echo(merged.problem, err=True)


@app.command()
def delete(
    session: SessionArgument,
    yes: YesOption = False,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Take a session off its run and end its links; the profile in storage stays."""
    run, session_id = split_session(session)
    confirm(f"Delete session {session} with its links?", yes)
    with connected(url, token) as client:
        client.delete_session(run, session_id)
    if as_json:
        typer.echo("{}")


def _host_count(session: Session) -> str:
    if session.expected_hosts is None or session.found_hosts is None:
        return ""
    return f"{session.found_hosts} of {session.expected_hosts}"


def _absolute(location: str) -> str:
    """A relative directory means the caller's, which the hub can't know; all else is left as it is."""
    if "://" in location or location.startswith("/"):
        return location
    return str(Path(location).expanduser().resolve())
