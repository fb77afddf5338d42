"""The command `xprof-hub demo`: one link to a session, with nothing to set up.

It serves exactly what `xprof-hub serve` serves, on this machine only, and uses its own HTTP API like any
other client. What it makes lies in a temporary folder and is gone when it ends.
"""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import typer
from pydantic import ValidationError

from loader.catalog import PROFILE_FOLDER, find_sessions
from loader.errors import LoaderError
from loader.storage.base import XPLANE_SUFFIX
from loader.storage.roots import open_storage
from server.client import HubClient, HubError
from server.commands.browser import show_page
from server.commands.hub_settings import wrong_settings
from server.demo.session import write_session
from server.links.schemas import NewLink
from server.machine.listening import StartError, listen
from server.machine.logs import configure_logs
from server.schemas import Run, Session
from server.serve import serve, stop_on_terminate
from server.settings import Settings

RUN = "demo"
_MOST_LINKS = 20


class DemoError(Exception):
    """The demo can't go on; the message is one sentence for the person who started it."""


@dataclass(frozen=True)
class SharedSession:
    """A session and the link that opens it."""

    name: str
    link: str


def run_demo(path: Path | None, port: int, hosts: int, events: int, browser: bool) -> None:
    """Serves a session until Ctrl-C and prints `Open <link>`.

    Args:
        path: the user's log directory, session directory or profile file; None makes a session.
        port: where to listen; 0 takes a free port.
        hosts: hosts of the made session.
        events: events per host of the made session.
        browser: open a browser when there is a display.

    Raises:
        typer.Exit: 1 after one sentence on standard error when it can't.
    """
    stop_on_terminate()
    try:
        with tempfile.TemporaryDirectory(prefix="xprof-hub-demo-") as folder:
            _serve_demo(Path(folder), path, port, hosts, events, browser)
    except (DemoError, StartError) as problem:
        typer.echo(str(problem), err=True)
        raise typer.Exit(1) from problem
    except KeyboardInterrupt:
        return


def _serve_demo(
    folder: Path, path: Path | None, port: int, hosts: int, events: int, browser: bool
) -> None:
    if port:
        listen("127.0.0.1", port).close()  # better told before a session is made
    root = _made_session(folder, hosts, events) if path is None else path.expanduser().resolve()
    locations = sessions_at(root)
    settings = demo_settings(folder / "data", locations, port)
    configure_logs(settings.log_level)
    opening = _Opening(settings, locations, browser)
    try:
        serve(settings, on_ready=opening)
    finally:
        # A served process ends by an interrupt, also when a failure of ours was its reason.
        if opening.problem is not None:
            raise opening.problem


def _made_session(folder: Path, hosts: int, events: int) -> Path:
    typer.echo(f"Making a session of {hosts} hosts with {events} events each ...")
    logs = folder / "logs"
    write_session(logs / PROFILE_FOLDER / "demo", hosts, events)
    return logs


def sessions_at(path: Path) -> list[str]:
    """Locations of the sessions at or below a path, oldest name first; at least one.

    Raises:
        DemoError: there is none, or the path can't be read.
    """
    try:
        locations = find_sessions(open_storage([str(path)]), str(path))
    except LoaderError as error:
        raise DemoError(f"{path}: {error.message}") from error
    if not locations:
        raise DemoError(
            f"{path} holds no profile. Give a log directory (with {PROFILE_FOLDER}/<session> in it), "
            f"a session's directory, or a file that ends in {XPLANE_SUFFIX}."
        )
    return locations


def demo_settings(data_dir: Path, locations: Sequence[str], port: int) -> Settings:
    """Settings of the demo: this machine and these sessions only, all embedded; limits as in the environment.

    Raises:
        DemoError: a variable in the environment has no valid value.
    """
    try:
        given = Settings()
        return Settings(
            host="127.0.0.1",
            port=port,
            base_url="",
            content_url="",
            data_dir=data_dir,
            database_url="",
            redis_url="",
            storage_roots=tuple(locations),
            cache_root="",
            workers=(),
            auth="dev",
            environment="development",
            log_level=given.log_level if "log_level" in given.model_fields_set else "warning",
        )
    except ValidationError as problem:
        raise DemoError(wrong_settings(problem)[0]) from problem


class _Opening:
    """What happens once the service answers: attach, share, print, open a browser."""

    def __init__(self, settings: Settings, locations: Sequence[str], browser: bool) -> None:
        self._settings = settings
        self._locations = locations[-_MOST_LINKS:]
        self._browser = browser
        self.problem: DemoError | None = None

    def __call__(self, base_url: str) -> None:
        """Runs beside the server, so a failure is kept for the main thread and ends the server."""
        try:
            hub = f"{base_url}{self._settings.path_prefix}"
            shared = share_sessions(hub, self._locations)
        except DemoError as problem:
            self.problem = problem
            os.kill(os.getpid(), signal.SIGTERM)
            return
        *others, newest = shared
        for session in others:
            typer.echo(f"Also {session.link} ({session.name})")
        typer.echo(f"Open {newest.link}")
        typer.echo(f"To look around, share and compare: {hub}/runs")
        typer.echo("Ctrl-C ends the demo.")
        if self._browser:
            show_page(newest.link)


def share_sessions(url: str, locations: Sequence[str]) -> list[SharedSession]:
    """Creates the demo's run, attaches the sessions and shares each, through the API.

    Raises:
        DemoError: the API refused something, or did not answer.
    """
    try:
        with HubClient(url) as client:
            client.runs.create(Run(display_name="Demo"), RUN)
            return [_share(client, location) for location in locations]
    except HubError as problem:
        raise DemoError(str(problem)) from problem


def _share(client: HubClient, location: str) -> SharedSession:
    name = PurePosixPath(location).name.removesuffix(XPLANE_SUFFIX)
    client.sessions.attach(RUN, Session(storage_folder_uri=location), name)
    return SharedSession(name, client.links.create(RUN, name, NewLink()).uri)
