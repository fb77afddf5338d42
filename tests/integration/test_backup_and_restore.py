"""A registry is copied while a hub works, and comes back whole, by the commands of docs/operations.md."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from auth.identity import Role, create_token
from server.registry.tokens import SqlTokenStore
from server.settings import DATABASE_FILE
from tests.services.api import Api, api_settings, serve_api
from tests.services.missing import find_program, missing
from tests.services.postgres import INSTALLED

DOCUMENT = (Path(__file__).parents[2] / "docs" / "operations.md").read_text("utf-8")
SESSION = "machineLearningRuns/r/profilerSessions/s"


def documented(*starts: str) -> str:
    """The commands of "Back up and restore" that begin so, in the document's order."""
    section = DOCUMENT.partition("\n## Back up and restore\n")[2].partition("\n## ")[0]
    commands = [
        line for line in re.findall(r"^    (.+)$", section, re.M) if line.startswith(starts)
    ]
    assert len(commands) == len(starts)
    return "\n".join(commands)


def run(commands: str, folder: Path, env: Mapping[str, str]) -> None:
    """Runs commands as a person would who has set these variables."""
    programs = [str(Path(sys.executable).parent), *map(str, INSTALLED), os.environ["PATH"]]
    done = subprocess.run(
        ["sh", "-e", "-c", commands],
        cwd=folder,
        env={"PATH": ":".join(programs), "HOME": str(folder), **env},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@dataclass(frozen=True)
class Known:
    """What a hub told before it was copied: the path of a link, its runs, its audit log."""

    link: str
    runs: object
    events: object


def sign_in(api: Api) -> str:
    """Makes an admin's token, and has the client send it."""
    _, token = create_token(
        SqlTokenStore(api.services.database),
        name="me",
        role=Role.ADMIN,
        creator="test",
        now=datetime.now(UTC),
        expires=None,
    )
    api.http.headers["Authorization"] = f"Bearer {token}"
    return token


def post(api: Api, path: str, body: Mapping[str, object]) -> dict[str, object]:
    answer = api.http.post(path, json=body)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def fill(api: Api) -> Known:
    """Makes a run with a session and a link."""
    folder = Path(api.settings.storage_roots[0]) / "s"
    folder.mkdir()
    (folder / "h.xplane.pb").write_bytes(b"x")
    post(api, "/machineLearningRuns?machineLearningRunId=r", {"displayName": "Run é"})
    attached = {"storageFolderUri": str(folder)}
    post(api, "/machineLearningRuns/r/profilerSessions?profilerSessionId=s", attached)
    link = str(post(api, f"/{SESSION}/shareLinks", {})["uri"])
    runs, events = told(api, "machineLearningRuns"), told(api, "auditEvents")
    return Known(link.removeprefix(api.url), runs, events)


def told(api: Api, path: str) -> object:
    answer = api.http.get(f"/{path}")
    assert answer.status_code == 200, answer.text
    return answer.json()


def assert_whole(api: Api, known: Known) -> None:
    """Everything is there as it was, and the hub can work on with it."""
    assert told(api, "machineLearningRuns") == known.runs
    assert told(api, "auditEvents") == known.events
    opened = api.http.get(
        api.url + known.link, headers={"Authorization": ""}, follow_redirects=True
    )
    assert opened.status_code == 200
    database = api.services.database
    with pytest.raises(DBAPIError, match="never changed"), database.writing() as session:
        session.execute(text("UPDATE audit_events SET actor = 'somebody else'"))
    post(api, "/machineLearningRuns?machineLearningRunId=after", {"displayName": "After"})


class Dump:
    """PostgreSQL's own programs."""

    def __init__(self, api: Api, folder: Path, new: str) -> None:
        for program in ("pg_dump", "pg_restore"):
            if find_program([program], INSTALLED) is None:
                missing(program, "postgresql-client")
        self.new = new
        self._folder = folder
        self._env = {
            "DATABASE": api.settings.database_url.replace("+psycopg", ""),
            "NEW_DATABASE": new.replace("+psycopg", ""),
        }

    def back_up(self) -> None:
        run(documented("umask ", "pg_dump "), self._folder, self._env)
        assert stat.S_IMODE((self._folder / "hub.dump").stat().st_mode) == 0o600

    def restore(self) -> None:
        run(documented("pg_restore "), self._folder, self._env)


class Copy:
    """Our own command, and a machine that was lost with the file and what lies beside it."""

    def __init__(self, api: Api, folder: Path) -> None:
        self.new = f"sqlite:///{folder / 'data' / DATABASE_FILE}"
        self._folder = folder
        self._url = api.settings.database_url

    def back_up(self) -> None:
        run(documented("xprof-hub backup "), self._folder, {"XPROF_HUB_DATABASE_URL": self._url})

    def restore(self) -> None:
        data = self._folder / "data"
        data.mkdir()
        for ending in ("", "-wal", "-shm"):
            old = self._url.removeprefix("sqlite:///") + ending
            shutil.copyfile(old, data / (DATABASE_FILE + ending))
        run(documented("DATA=", "rm -f ", "cp "), self._folder, {"XPROF_HUB_DATA_DIR": str(data)})


def test_a_registry_comes_back_as_it_was(
    guarded_api: Api, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    backup: Dump | Copy
    if guarded_api.services.database.dialect == "postgresql":
        backup = Dump(guarded_api, tmp_path, request.getfixturevalue("postgres_url"))
    else:
        backup = Copy(guarded_api, tmp_path)
    token = sign_in(guarded_api)
    known = fill(guarded_api)
    backup.back_up()
    post(guarded_api, "/machineLearningRuns?machineLearningRunId=later", {"displayName": "Later"})
    backup.restore()
    settings = api_settings(
        tmp_path,
        auth="token",
        database_url=backup.new,
        storage_roots=guarded_api.settings.storage_roots,
    )
    with serve_api(settings) as api:
        api.http.headers["Authorization"] = f"Bearer {token}"
        assert_whole(api, known)
