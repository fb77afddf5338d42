"""`xprof-hub upload` against a running API."""

from __future__ import annotations

import json
import os
from pathlib import Path

import httpx2
import pytest

from server.client import HubClient
from server.client.uploads import PART_BYTES, LocalProfile
from tests.contract.api_calls import PROFILE, create_run, session_path
from tests.contract.commands import Commands
from tests.services.api import Api, ApiServers


@pytest.fixture
def api(api_servers: ApiServers) -> Api:
    return api_servers.get("sqlite", "dev")


@pytest.fixture
def hub(api: Api) -> Commands:
    return Commands(api.url)


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """A session of three hosts, as JAX lays it out."""
    folder = tmp_path / "logs" / "plugins" / "profile" / "2026_01_31_12_00_00"
    folder.mkdir(parents=True)
    for host in ("vm 0", "vm 1", "ü"):
        (folder / f"{host}.xplane.pb").write_bytes(PROFILE + host.encode())
    (folder / "vm 0.trace.json.gz").write_bytes(b"not a profile")
    return folder


def read_session(api: Api, session: str) -> dict[str, object]:
    found: dict[str, object] = api.http.get(session_path("r", session)).json()
    return found


@pytest.mark.parametrize("up", [0, 1, 3])
def test_a_session_is_sent_from_its_directory_or_the_log_directory(
    api: Api, hub: Commands, session: Path, up: int
) -> None:
    create_run(api, "r")
    place = session if up == 0 else session.parents[up - 1]
    assert hub.lines("upload", "r", str(place)) == ["r/2026_01_31_12_00_00"]
    found = read_session(api, "2026_01_31_12_00_00")
    assert (found["foundHosts"], found["state"], found["kind"]) == (3, "COMPLETE", "UPLOADED")
    folder = Path(str(found["storageFolderUri"]))
    assert (folder / "vm 1.xplane.pb").read_bytes() == PROFILE + b"vm 1"


def test_the_run_is_made_and_the_link_printed(api: Api, hub: Commands, session: Path) -> None:
    lines = hub.lines("upload", "r", str(session), "--create-run", "--share")
    assert lines[0] == "r/2026_01_31_12_00_00"
    assert lines[1].startswith(f"{api.url}/s/xph_")
    assert httpx2.get(lines[1], follow_redirects=True).status_code == 200


def test_an_upload_is_started_again_and_passes_over_what_is_there(
    api: Api, hub: Commands, session: Path
) -> None:
    hub.lines("upload", "r", str(session), "--create-run")
    before = read_session(api, session.name)
    (session / "vm 3.xplane.pb").write_bytes(PROFILE)
    assert hub.lines("upload", "r", str(session), "--create-run") == [f"r/{session.name}"]
    after = read_session(api, session.name)
    assert after["foundHosts"] == 4
    assert after["uid"] == before["uid"]


def test_another_file_of_a_host_is_kept_unless_asked(
    api: Api, hub: Commands, session: Path
) -> None:
    hub.lines("upload", "r", str(session), "--create-run")
    (session / "vm 0.xplane.pb").write_bytes(b"another")
    complaint = hub.complaint("upload", "r", str(session), status=6)
    assert "vm 0: There is another file of host 'vm 0' already" in complaint
    assert "1 of 3 hosts were not sent" in complaint
    hub.lines("upload", "r", str(session), "--replace")
    folder = Path(str(read_session(api, session.name)["storageFolderUri"]))
    assert (folder / "vm 0.xplane.pb").read_bytes() == b"another"


def test_hosts_that_are_sent_one_by_one_complete_the_session(
    api: Api, hub: Commands, session: Path
) -> None:
    create_run(api, "r")
    for count, host in enumerate(("vm 0", "vm 1", "ü"), 1):
        file = session / f"{host}.xplane.pb"
        assert hub.lines("upload", "r", str(file), "--hosts", "3") == [f"r/{session.name}"]
        state = read_session(api, session.name)["state"]
        assert state == ("COMPLETE" if count == 3 else "OPEN")


def test_a_lone_file_is_named_after_its_time(api: Api, hub: Commands, tmp_path: Path) -> None:
    create_run(api, "r")
    file = tmp_path / "vm.xplane.pb"
    file.write_bytes(PROFILE)
    os.utime(file, (1769860800, 1769860800))  # 2026-01-31 12:00:00 UTC
    assert hub.lines("upload", "r", str(file)) == ["r/2026_01_31_12_00_00"]
    assert hub.lines("upload", "r", str(file), "--session", "mine") == ["r/mine"]


def test_json_is_the_session(api: Api, hub: Commands, session: Path) -> None:
    create_run(api, "r")
    found = json.loads("\n".join(hub.lines("upload", "r", str(session), "--json")))
    assert (found["kind"], found["foundHosts"]) == ("UPLOADED", 3)


def test_what_can_not_be_sent_is_said(api: Api, hub: Commands, session: Path) -> None:
    assert "There is no run 'r'" in hub.complaint("upload", "r", str(session), status=3)
    other = session.parent / "2026_02_01"
    other.mkdir()
    (other / "vm 0.xplane.pb").write_bytes(PROFILE)
    for paths, words in (
        ([str(session.parent)], "2 sessions"),
        ([str(session), str(other)], "is there twice"),
        ([str(session / "vm 0.trace.json.gz")], "is no profile"),
        ([str(session / "missing")], "is not there"),
        ([str(session.parents[2])], "2 sessions"),
    ):
        result = hub.run("upload", "r", *paths)
        assert result.exit_code == 2
        assert words in " ".join(result.stderr.replace("│", " ").split())


def test_a_large_file_goes_on_where_it_was(api: Api, tmp_path: Path) -> None:
    create_run(api, "r")
    file = tmp_path / "vm.xplane.pb"
    file.write_bytes(os.urandom(2 * PART_BYTES + 1000))
    profile = LocalProfile("vm", file)
    heard: list[int] = []

    class StoppedError(Exception):
        pass

    def stop_after_one(received: int) -> None:
        heard.append(received)
        if received == PART_BYTES:
            raise StoppedError

    with HubClient(api.url) as first, pytest.raises(StoppedError):
        first.uploads.send("r", "s", profile, advance=stop_after_one)
    with HubClient(api.url) as second:
        heard.clear()
        done = second.uploads.send("r", "s", profile, advance=heard.append)
    assert heard == [PART_BYTES, 2 * PART_BYTES, 2 * PART_BYTES + 1000]
    assert done.size_bytes == 2 * PART_BYTES + 1000
    folder = Path(str(read_session(api, "s")["storageFolderUri"]))
    assert (folder / "vm.xplane.pb").read_bytes() == file.read_bytes()
