"""`xprof-hub upload`: send profiles from this machine to a hub, several hosts at a time."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from loader.catalog import PROFILE_FOLDER
from loader.storage.base import XPLANE_SUFFIX
from server.client import ConflictError, HubClient, HubError
from server.client.uploads import Advance, LocalProfile
from server.commands.console import (
    JsonOption,
    RunArgument,
    TokenOption,
    UrlOption,
    connected,
    examples,
    fail,
    print_json,
    say,
)
from server.commands.exits import exit_status
from server.commands.terminal import print_line
from server.commands.upload_bars import upload_bars
from server.links.schemas import NewLink
from server.schemas import Run

EXAMPLES = examples(
    "xprof-hub upload llama-8b /tmp/logs/plugins/profile/2026_01_31_12_00_00",
    "xprof-hub upload llama-8b /tmp/logs --create-run --share",
    "xprof-hub upload llama-8b vm-3.xplane.pb --session 2026_01_31 --hosts 16",
)


class _StoppedError(Exception):
    """Somebody has ended the command."""


_ENDINGS = (XPLANE_SUFFIX, f"{XPLANE_SUFFIX}.gz")


def upload(
    run: RunArgument,
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="DIR|FILE...",
            help="A session's directory, a log directory with one session, or .xplane.pb files.",
        ),
    ],
    session: Annotated[
        str,
        typer.Option(
            help="Id of the session; its directory's name, or its files' time, unless set."
        ),
    ] = "",
    hosts: Annotated[
        int | None,
        typer.Option(min=1, help="How many hosts the session will have, when others send more."),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace other files of the same hosts.")
    ] = False,
    create_run: Annotated[
        bool, typer.Option("--create-run", help="Make the run when it is not there.")
    ] = False,
    share: Annotated[
        bool, typer.Option("--share", help="Make a link to the session, and print it.")
    ] = False,
    parallel: Annotated[
        int, typer.Option(min=1, max=32, help="Hosts that are sent at the same time.")
    ] = 4,
    url: UrlOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Send profiles to a hub; started again after a failure, it goes on where it was.

    Hosts that are there already are passed over. With --hosts the session is complete when so many hosts are
    there, otherwise when this command has sent all of its own.
    """
    profiles = find_profiles(paths)
    session_id = session or session_name_of(profiles)
    with connected(url, token) as client:
        if create_run:
            _make_run(client, run)
        _send_all(client, run, session_id, profiles, hosts, replace, parallel)
        if hosts is None:
            client.uploads.complete(run, session_id)
        link = client.links.create(run, session_id, NewLink()) if share else None
        if as_json:
            print_json(client.sessions.get(run, session_id) if link is None else link)
            return
    typer.echo(f"{run}/{session_id}")
    if link is not None:
        print_line(link.uri)


def find_profiles(paths: Sequence[Path]) -> list[LocalProfile]:
    """The hosts' files that paths name, sorted by host.

    Raises:
        typer.BadParameter: there is none, a host is there twice, or a log directory has several sessions.
    """
    files = [file for path in paths for file in _files_of(path)]
    profiles = sorted(
        (LocalProfile(_host_of(file), file) for file in files), key=lambda one: one.host
    )
    if not profiles:
        raise typer.BadParameter("There is no file here whose name ends in .xplane.pb.")
    names = [profile.host for profile in profiles]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise typer.BadParameter(f"Host '{twice}' is there twice; a session has each host once.")
    return profiles


def session_name_of(profiles: Sequence[LocalProfile]) -> str:
    """The session's id when nobody gives one: the same each time, so that an upload can go on.

    The name of the directory that the files share, as JAX names it by the time; otherwise the time of the
    first file.
    """
    folders = {profile.path.resolve().parent for profile in profiles}
    if len(folders) == 1:
        folder = folders.pop()
        if folder.name and (len(profiles) > 1 or folder.parent.name == "profile"):
            return folder.name
    first = min(profile.path.stat().st_mtime for profile in profiles)
    return datetime.fromtimestamp(first, tz=UTC).strftime("%Y_%m_%d_%H_%M_%S")


def _files_of(path: Path) -> list[Path]:
    if path.is_file():
        if not path.name.endswith(_ENDINGS):
            raise typer.BadParameter(f"{path} is no profile: its name does not end in .xplane.pb.")
        return [path]
    if not path.is_dir():
        raise typer.BadParameter(f"{path} is not there.")
    found = _profiles_in(path)
    if found:
        return found
    folders = [path, path / PROFILE_FOLDER]
    sessions = [
        child
        for folder in folders
        if folder.is_dir()
        for child in sorted(folder.iterdir())
        if child.is_dir() and _profiles_in(child)
    ]
    if len(sessions) > 1:
        names = ", ".join(child.name for child in sessions[:20])
        raise typer.BadParameter(f"{path} has {len(sessions)} sessions; name one of them: {names}.")
    return _profiles_in(sessions[0]) if sessions else []


def _profiles_in(folder: Path) -> list[Path]:
    return sorted(file for file in folder.iterdir() if file.name.endswith(_ENDINGS))


def _host_of(file: Path) -> str:
    name = file.name.removesuffix(".gz").removesuffix(XPLANE_SUFFIX)
    if not name:
        raise typer.BadParameter(f"{file} names no host: write it as HOST.xplane.pb.")
    return name


def _make_run(client: HubClient, run: str) -> None:
    try:
        client.runs.create(Run(display_name=run), run)
    except ConflictError:
        return  # it is there already


def _send_all(
    client: HubClient,
    run: str,
    session: str,
    profiles: Sequence[LocalProfile],
    hosts: int | None,
    replace: bool,
    parallel: int,
) -> None:
    """Sends all files; one that fails stops no other.

    Raises:
        typer.Exit: some could not be sent.
    """
    problems: dict[str, HubError | OSError] = {}
    is_stopped = threading.Event()
    with upload_bars(profiles) as bars, ThreadPoolExecutor(parallel) as pool:
        sent = {
            pool.submit(
                client.uploads.send,
                run,
                session,
                profile,
                expected_hosts=hosts,
                replace=replace,
                advance=_until(is_stopped, bars.of(profile)),
            ): profile.host
            for profile in profiles
        }
        try:
            for future in as_completed(sent):
                problem = future.exception()
                if isinstance(problem, (HubError, OSError)):
                    problems[sent[future]] = problem
                elif problem is not None:
                    raise problem
        except BaseException:
            is_stopped.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    if problems:
        raise _failed(problems, len(profiles))


def _until(is_stopped: threading.Event, advance: Advance) -> Advance:
    """Passes on how far a host is; ends its upload, at the end of a part, when nobody wants it any more."""

    def told(received: int) -> None:
        if is_stopped.is_set():
            raise _StoppedError
        advance(received)

    return told


def _failed(problems: dict[str, HubError | OSError], count: int) -> typer.Exit:
    """Says which hosts were not sent and why; the exit to raise."""
    for host, problem in sorted(problems.items()):
        say(f"{host}: {problem}")
    first = next(iter(problems.values()))
    sentence = f"{len(problems)} of {count} hosts were not sent. Run the same again to go on."
    return fail(sentence, exit_status(first)) if isinstance(first, HubError) else fail(sentence)
