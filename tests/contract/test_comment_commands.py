"""`xprof-hub comments` and `xprof-hub download` against a running API."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from auth.identity import Role
from server.xprof.file_downloads import MOST_TOLD_BYTES
from tests.contract.api_calls import (
    PROFILE,
    attach,
    create_run,
    new_session,
    session_path,
    token_for,
    write_profile,
)
from tests.contract.commands import Commands
from tests.services.api import Api, ApiServers


@pytest.fixture
def api(api_servers: ApiServers) -> Api:
    """A development server; one database is enough for what commands do."""
    return api_servers.get("sqlite", "dev")


@pytest.fixture
def hub(api: Api) -> Commands:
    """Commands of somebody who works with it."""
    return Commands(api.url)


def test_comments_are_added_listed_and_deleted(api: Api, hub: Commands) -> None:
    new_session(api)
    view = "tag=trace_viewer@&hosts=vm&view_start=12.5&view_end=14"
    (first,) = hub.lines("comments", "add", "r/s", "one\ntwo", "--view", view)
    piped = hub.run("comments", "add", "r/s", "-", given="from a pipe\n")
    second = piped.stdout.strip()
    listed = hub.json("comments", "list", "r/s")
    assert isinstance(listed, list)
    assert [(one["uid"], one["text"]) for one in listed] == [
        (second, "from a pipe"),
        (first, "one\ntwo"),
    ]
    assert listed[1]["view"]["startMs"] == 12.5
    table = hub.lines("comments", "list", "r/s")
    assert "trace_viewer@ vm 12.5-14 ms" in table[2]
    assert "one two" in table[2]
    assert hub.said("comments", "delete", "r/s", first, "--yes") == "Deleted the comment.\n"
    assert len(hub.lines("comments", "list", "r/s")) == 2
    hub.complaint("comments", "delete", "r/s", first, "--yes", status=3)
    hub.complaint("comments", "add", "r/s", " ", status=2)
    hub.complaint("comments", "add", "r/s", "x" * 4001, status=2)
    hub.complaint("comments", "add", "r/s", "x", "--view", "nothing", status=2)
    hub.complaint("comments", "list", "r/t", status=3)


def test_files_are_downloaded_and_a_broken_download_goes_on(
    api: Api, hub: Commands, tmp_path: Path
) -> None:
    create_run(api, "r")
    folder = write_profile(api, "s", "a b", "c")
    body = os.urandom(100_000)
    (folder / "a b.xplane.pb").write_bytes(body)
    assert attach(api, "r", folder).status_code == 200
    target = tmp_path / "new" / "place"
    printed = hub.lines("download", "r/s", str(target))
    assert printed == [str(target / name) for name in ("a b.xplane.pb", "c.xplane.pb")]
    assert (target / "a b.xplane.pb").read_bytes() == body
    assert (target / "c.xplane.pb").read_bytes() == (folder / "c.xplane.pb").read_bytes()
    path = f"{session_path('r', 's')}/hosts/a b:download"
    told = hub.json("download", "r/s", str(target), "--host", "c")
    assert told == [{"host": "c", "path": str(target / "c.xplane.pb"), "sizeBytes": len(PROFILE)}]
    etag = api.http.get(path).headers["etag"].strip('"')
    fetch = ("download", "r/s", str(target), "--host", "a b")
    for begin, end in (
        (b"begun before ", body[13:]),  # what is here already is not fetched again
        (b"x" * len(body), b""),
    ):
        (target / f"a b.xplane.pb.{etag}.part").write_bytes(begin)
        hub.lines(*fetch)
        assert (target / "a b.xplane.pb").read_bytes() == begin + end
    for name, begun in ((etag, body + b"too long"), ("of-another-version", b"begun")):
        (target / f"a b.xplane.pb.{name}.part").write_bytes(begun)
        hub.lines(*fetch)
        assert (target / "a b.xplane.pb").read_bytes() == body
    assert sorted(path.name for path in target.iterdir()) == ["a b.xplane.pb", "c.xplane.pb"]
    assert "no file of z" in hub.complaint(*fetch[:3], "--host", "z", status=3)
    (tmp_path / "file").touch()
    hub.complaint("download", "r/s", str(tmp_path / "file"))


def test_a_file_whose_answer_says_no_length_is_downloaded_whole(
    api: Api, hub: Commands, tmp_path: Path
) -> None:
    create_run(api, "r")
    folder = write_profile(api, "s", "long")
    size = MOST_TOLD_BYTES + 1
    with (folder / "long.xplane.pb").open("r+b") as file:
        file.truncate(size)
    assert attach(api, "r", folder).status_code == 200
    target = tmp_path / "long.xplane.pb"
    told = hub.json("download", "r/s", str(tmp_path))
    assert told == [{"host": "long", "path": str(target), "sizeBytes": size}]
    assert target.stat().st_size == size


def test_who_may_only_read_downloads_nothing(api_servers: ApiServers, tmp_path: Path) -> None:
    api = api_servers.get("sqlite", "token")
    _, admin = token_for(api, Role.ADMIN)
    api.http.headers["Authorization"] = f"Bearer {admin}"
    new_session(api)
    _, viewer = token_for(api, Role.VIEWER)
    hub = Commands(api.url, viewer)
    assert "files.read" in hub.complaint("download", "r/s", str(tmp_path), status=4)
    assert list(tmp_path.iterdir()) == []
