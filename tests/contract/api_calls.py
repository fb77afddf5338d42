"""Short ways to call the API in tests."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

import httpx2

from auth.identity import Role, create_token
from server.registry.database import Database
from server.registry.tokens import SqlTokenStore
from tests.services.api import Api

PROFILE = b"\x0a\x0bx" + b"\x12\x09/host:CPU"
"""A few bytes where a profile would be; the API looks at names and sizes only."""


def run_path(run: str) -> str:
    """Path of a run."""
    return f"/machineLearningRuns/{quote(run, safe='')}"


def session_path(run: str, session: str) -> str:
    """Path of a session."""
    return f"{run_path(run)}/profilerSessions/{quote(session, safe='')}"


def create_run(api: Api, run: str, **body: object) -> httpx2.Response:
    """Asks for a run of this id."""
    return api.http.post("/machineLearningRuns", params={"machineLearningRunId": run}, json=body)


def write_profile(api: Api, session: str, *hosts: str, log_directory: str = "logs") -> Path:
    """Writes a session's folder, as JAX does, below the only storage root."""
    root = Path(api.settings.storage_roots[0])
    folder = root / log_directory / "plugins" / "profile" / session
    folder.mkdir(parents=True)
    for host in hosts or ("vm",):
        (folder / f"{host}.xplane.pb").write_bytes(PROFILE)
    return folder


def attach(api: Api, run: str, location: Path | str, **body: object) -> httpx2.Response:
    """Asks for a session at this location, named after its folder."""
    path = f"{run_path(run)}/profilerSessions"
    return api.http.post(path, json={"storageFolderUri": str(location), **body})


def new_session(api: Api, run: str = "r", session: str = "s") -> str:
    """Makes a run with a session of one host; returns the session's path."""
    assert create_run(api, run).status_code == 200
    answer = attach(api, run, write_profile(api, session, log_directory=f"logs of {run}"))
    assert answer.status_code == 200, answer.text
    return session_path(run, session)


def error_of(response: httpx2.Response) -> tuple[int, str]:
    """Code and status of an error, after checking its shape."""
    error = response.json()["error"]
    assert set(error) == {"code", "status", "message", "details"}
    assert error["code"] == response.status_code
    assert error["message"]
    assert response.headers["content-type"] == "application/json"
    return error["code"], error["status"]


def fields_of(response: httpx2.Response) -> list[str]:
    """The fields that an error names."""
    return [detail["field"] for detail in response.json()["error"]["details"]]


def token_for(api: Api, role: Role) -> tuple[str, str]:
    """Id and secret of a new token, made as `tokens create --local` does."""
    database = Database(api.settings.resolved_database_url)
    token, secret = create_token(
        SqlTokenStore(database),
        name=role.value,
        role=role,
        creator="test",
        now=datetime.now(UTC),
        expires=None,
    )
    database.close()
    return token.id, secret


def authorize(api: Api) -> None:
    """Lets the API's client call as an administrator."""
    _, secret = token_for(api, Role.ADMIN)
    api.http.headers["Authorization"] = f"Bearer {secret}"
