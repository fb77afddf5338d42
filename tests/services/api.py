"""The front end's application behind a real HTTP server in this process, for tests of the API."""

from __future__ import annotations

import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx2
import pytest
import uvicorn

from server.app import create_app
from server.registry.metadata import METADATA
from server.services import Services
from server.settings import Settings
from tests.services.postgres import PostgresServer

_KEEP_ALIVE_SECONDS = 600


class Api:
    """A running API.

    Attributes:
        url: its address, without trailing slash.
        http: a client whose paths are relative to `/v1`.
        settings: what it runs with.
        services: its parts.
    """

    def __init__(self, url: str, services: Services) -> None:
        self.url = url
        self.settings = services.settings
        self.services = services
        self.http = httpx2.Client(base_url=f"{url}/v1", trust_env=False, timeout=30)


@contextmanager
def serve_api(settings: Settings) -> Iterator[Api]:
    """Serves the application on a free port of the loopback interface."""
    listener = socket.create_server(("127.0.0.1", 0))
    # A connection that the server ends in the moment in which a client uses it again is reset.
    app = create_app(settings)
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    try:
        while not server.started and thread.is_alive():
            time.sleep(0.01)
        port = listener.getsockname()[1]
        api = Api(f"http://127.0.0.1:{port}{settings.path_prefix}", app.state.services)
        with api.http:
            yield api
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


def api_settings(folder: Path, **values: object) -> Settings:
    """Settings with everything in one folder, whose `profiles` folder is the only storage root."""
    profiles = folder / "profiles"
    profiles.mkdir(exist_ok=True)
    defaults: dict[str, object] = {
        "data_dir": folder / "data",
        "database_url": f"sqlite:///{folder / 'registry.sqlite'}",
        "storage_roots": str(profiles),
        "upload_root": str(folder / "uploads"),
        "secret_key": "of this test",
        "prewarm": False,
        "scan_seconds": 0,
    }
    return Settings.model_validate({**defaults, **values})


class ApiServers:
    """The servers of a whole test run: loading XProf's UI for each test would take most of the time."""

    def __init__(self, folder: Path, postgres_url: Callable[[], str], exits: ExitStack) -> None:
        self._folder = folder
        self._postgres_url = postgres_url
        self._exits = exits
        self._running: dict[tuple[str, ...], Api] = {}

    def get(self, database: str, auth: str) -> Api:
        """A server of this kind, with nothing in its registry and its storage."""
        if (database, auth) not in self._running:
            self._running[database, auth] = self._start(database, auth)
        api = self._running[database, auth]
        self._empty(api)
        return api

    def _start(self, database: str, auth: str) -> Api:
        folder = self._folder / f"{database}-{auth}"
        folder.mkdir()
        values: dict[str, object] = {"auth": auth, "data_dir": self._folder / "data"}
        if database == "postgresql":
            values["database_url"] = self._postgres_url()
        return self._exits.enter_context(serve_api(api_settings(folder, **values)))

    def _empty(self, api: Api) -> None:
        api.http.headers.pop("Authorization", None)
        # What one test asked too often is not the next one's fault.
        api.services.limits.traffic._counts.clear()
        api.services.limits.attempts._counts.clear()
        with api.services.database.writing() as session:
            for table in reversed(METADATA.sorted_tables):
                session.execute(table.delete())
        profiles = Path(api.settings.storage_roots[0])
        for folder in (profiles, Path(api.settings.upload_root)):
            shutil.rmtree(folder)
            folder.mkdir()


@pytest.fixture(scope="session")
def api_servers(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[ApiServers]:
    """Starts a server when a test first asks for one of its kind."""

    def postgres_url() -> str:
        server: PostgresServer = request.getfixturevalue("postgres_server")
        return server.create_database()

    with ExitStack() as exits:
        yield ApiServers(tmp_path_factory.mktemp("api"), postgres_url, exits)


@pytest.fixture(params=["sqlite", "postgresql"])
def api(request: pytest.FixtureRequest, api_servers: ApiServers) -> Api:
    """The API of a development server, once on each database."""
    return api_servers.get(request.param, "dev")


@pytest.fixture(params=["sqlite", "postgresql"])
def guarded_api(request: pytest.FixtureRequest, api_servers: ApiServers) -> Api:
    """The API of a server that asks for tokens, once on each database."""
    return api_servers.get(request.param, "token")
