"""The front end's application behind a real HTTP server in this process, for tests of the API."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest
import uvicorn

from server.app import create_app
from server.settings import Settings


class Api:
    """A running API.

    Attributes:
        url: its address, without trailing slash.
        http: a client whose paths are relative to `/v1`.
        settings: what it runs with.
    """

    def __init__(self, url: str, settings: Settings) -> None:
        self.url = url
        self.settings = settings
        self.http = httpx2.Client(base_url=f"{url}/v1", trust_env=False, timeout=30)


@contextmanager
def serve_api(settings: Settings) -> Iterator[Api]:
    """Serves the application on a free port of the loopback interface."""
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(create_app(settings), log_config=None, access_log=False)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    try:
        while not server.started and thread.is_alive():
            time.sleep(0.01)
        port = listener.getsockname()[1]
        api = Api(f"http://127.0.0.1:{port}{settings.path_prefix}", settings)
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
        "storage_roots": str(profiles),
        "secret_key": "of this test",
    }
    return Settings.model_validate({**defaults, **values})


@pytest.fixture
def api(tmp_path: Path, registry_url: str) -> Iterator[Api]:
    """The API of a development server, once on each database."""
    with serve_api(api_settings(tmp_path, database_url=registry_url)) as running:
        yield running


@pytest.fixture
def guarded_api(tmp_path: Path, registry_url: str) -> Iterator[Api]:
    """The API of a server that asks for tokens, once on each database."""
    settings = api_settings(tmp_path, database_url=registry_url, auth="token")
    with serve_api(settings) as running:
        yield running
