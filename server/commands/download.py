"""`xprof-hub download`: a session's original profiles, into a directory that XProf can open."""

from __future__ import annotations

from pathlib import Path
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
    fail,
    print_json,
    split_session,
)
from server.commands.exits import ExitStatus
from server.commands.progress import progress_bar
from server.commands.terminal import print_line
from server.schemas import ApiModel, SessionHost

EXAMPLES = examples(
    "xprof-hub download llama-8b/2026_01_31 ./profiles",
    "xprof-hub download llama-8b/2026_01_31 . --host vm0 --host vm1",
)


class DownloadedFile(ApiModel):
    """A host's profile that is here."""

    host: str
    path: str
    size_bytes: int


def download(
    session: SessionArgument,
    directory: Annotated[Path, typer.Argument(help="Where the files go; made if it is not there.")],
    host: Annotated[
        list[str] | None,
        typer.Option(help="Only this host's file; may be given several times."),
    ] = None,
    url: UrlOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Download a session's original profiles, and print where each is.

    One that was broken off goes on when it is started again. Needs the role editor.
    """
    run, session_id = split_session(session)
    with connected(url, token) as client:
        wanted = _wanted(client, run, session_id, host or [])
        try:
            directory.mkdir(parents=True, exist_ok=True)
            files = [_fetch(client, run, session_id, entry, directory) for entry in wanted]
        except OSError as problem:
            raise fail(f"{directory}: {problem.strerror}") from problem
    if as_json:
        print_json(files)
        return
    for file in files:
        print_line(file.path)


def _wanted(client: HubClient, run: str, session: str, names: list[str]) -> list[SessionHost]:
    """The hosts that were asked for; all of them when none was named.

    Raises:
        typer.Exit: one is not there, or there is none at all.
    """
    found = client.sessions.get(run, session)
    hosts = {entry.host: entry for entry in found.hosts or []}
    missing = [name for name in names if name not in hosts]
    if missing or not hosts:
        sentence = f"there is no file of {', '.join(missing)}." if missing else "there is no file."
        raise fail(sentence, ExitStatus.NOT_FOUND, [found.problem] if found.problem else [])
    return [hosts[name] for name in names] or list(hosts.values())


def _fetch(
    client: HubClient, run: str, session: str, entry: SessionHost, directory: Path
) -> DownloadedFile:
    # The hub's word is not taken for where on this machine something is written.
    target = directory / Path(entry.file).name
    with progress_bar(entry.host) as advance:
        client.downloads.fetch(
            run,
            session,
            entry.host,
            target,
            lambda here, total: advance(entry.host, here, total),
        )
    return DownloadedFile(host=entry.host, path=str(target), size_bytes=target.stat().st_size)
