"""Uploads on real hubs: opened in XProf, shared by front ends, killed in the middle, and small in memory."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from server.client import HubClient
from server.client.uploads import LocalProfile, host_path
from server.schemas import Run
from tests.services.cluster import PROFILE_PATH, Cluster, get
from tests.services.hub import HubFactory, HubProcess
from tests.services.pair import until

PART = 1 << 20
CONTENT = os.urandom(5 * PART + 123)
DIGEST = f"sha-256=:{base64.b64encode(hashlib.sha256(CONTENT).digest()).decode()}:"


def upload_command(hub: HubProcess, *arguments: str | Path) -> str:
    """Standard output of `xprof-hub upload`."""
    program = Path(sys.executable).parent / "xprof-hub"
    environment = {"XPROF_HUB_URL": hub.url, "PATH": os.environ["PATH"], "HOME": "/nonexistent"}
    done = subprocess.run(
        [program, "upload", *arguments],
        check=False,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def put_part(hub: HubProcess, first: int, content: bytes = CONTENT) -> httpx2.Response:
    """Sends one part of the content."""
    part = content[first : first + PART]
    return httpx2.put(
        f"{hub.url}/v1{host_path('r', 's', 'vm')}",
        content=part,
        headers={
            "Content-Range": f"bytes {first}-{first + len(part) - 1}/{len(content)}",
            "Repr-Digest": DIGEST,
        },
        timeout=60,
    )


def make_run(hub: HubProcess) -> None:
    with HubClient(hub.url) as client:
        client.runs.create(Run(), "r")


def overview(address: str) -> None:
    """Opens the overview of all hosts, which needs every file converted."""
    answer = get(f"{address}/data?tag=overview_page&host=ALL_HOSTS")
    assert answer.status == 200, answer.body
    assert answer.json()
    assert "x-xprof-hub-warnings" not in answer.headers


def test_an_upload_opens_in_xprof_on_one_machine(hubs: HubFactory, small_session: Path) -> None:
    hub = hubs.start({"XPROF_HUB_PREWARM": "true"})
    name, link = upload_command(hub, "r", small_session, "--create-run", "--share").split()
    assert name == "r/small"
    with HubClient(hub.url) as client:
        until(lambda: client.sessions.get("r", "small").prewarm == "done")
    assert get(f"{link}{PROFILE_PATH}/").status == 200
    hosts = get(f"{link}{PROFILE_PATH}/hosts?tag=trace_viewer@").json()
    expected = sorted(path.name.removesuffix(".xplane.pb") for path in small_session.iterdir())
    assert isinstance(hosts, list)
    assert sorted(entry["hostname"] for entry in hosts) == expected
    overview(f"{link}{PROFILE_PATH}")


def test_an_upload_through_two_front_ends_opens_from_the_bucket(
    cluster: Cluster, small_session: Path
) -> None:
    cluster.env["XPROF_HUB_UPLOAD_ROOT"] = f"gs://{cluster.bucket}-uploads/hub"
    cluster.gcs.create_bucket(f"{cluster.bucket}-uploads")
    worker = cluster.worker()
    first, second = cluster.front(worker), cluster.front(worker)
    make_run(first)
    files = sorted(small_session.glob("*.xplane.pb"))
    for index, file in enumerate(files):
        hub = (first, second)[index % 2]
        upload_command(hub, "r", file, "--session", "s", "--hosts", str(len(files)))
    with HubClient(second.url) as client:
        session = client.sessions.get("r", "s")
    assert (session.state, session.found_hosts, session.problem) == ("COMPLETE", len(files), None)
    assert session.storage_folder_uri.startswith(f"gs://{cluster.bucket}-uploads/hub/")
    link = httpx2.post(
        f"{second.url}/v1/machineLearningRuns/r/profilerSessions/s/shareLinks", json={}
    ).json()["uri"]
    overview(f"{link}{PROFILE_PATH}")


def test_parts_go_to_any_front_end_also_after_one_was_killed(cluster: Cluster) -> None:
    cluster.env["XPROF_HUB_UPLOAD_ROOT"] = f"gs://{cluster.bucket}/uploads"
    cluster.env["XPROF_HUB_WORKERS"] = "http://127.0.0.1:1"
    first, second = (cluster.hubs.start(cluster.env, only="front") for _ in range(2))
    make_run(first)
    assert put_part(first, 0).headers["range"] == f"bytes=0-{PART - 1}"
    assert put_part(second, PART).headers["range"] == f"bytes=0-{2 * PART - 1}"

    def stopping() -> Iterator[bytes]:
        yield CONTENT[2 * PART : 2 * PART + 1000]
        first.kill()
        yield CONTENT[2 * PART + 1000 : 3 * PART]

    with pytest.raises(httpx2.HTTPError):
        httpx2.put(
            f"{first.url}/v1{host_path('r', 's', 'vm')}",
            content=stopping(),
            headers={
                "Content-Range": f"bytes {2 * PART}-{3 * PART - 1}/{len(CONTENT)}",
                "Repr-Digest": DIGEST,
            },
        )
    for start in range(2 * PART, 5 * PART, PART):
        assert put_part(second, start).status_code == 308
    assert (
        httpx2.get(f"{second.url}/v1/machineLearningRuns/r/profilerSessions/s").status_code == 404
    )
    done = put_part(second, 5 * PART)
    assert (done.status_code, done.json()["sizeBytes"]) == (200, len(CONTENT))
    bucket = cluster.gcs.client().bucket(cluster.bucket)
    blobs = {blob.name: blob for blob in bucket.list_blobs(prefix="uploads/")}
    (name,) = (name for name in blobs if name.endswith("/s/vm.xplane.pb"))
    assert blobs[name].download_as_bytes() == CONTENT
    left = [key for key in blobs if key != name]
    assert [key.split("/")[-1].split("-")[0] for key in left] == ["whole"]


def test_the_client_goes_on_at_a_hub_that_was_started_again(
    hubs: HubFactory, tmp_path: Path
) -> None:
    data = str(tmp_path / "data")
    env = {
        "XPROF_HUB_DATA_DIR": data,
        "XPROF_HUB_UPLOAD_ROOT": f"{data}/uploads",
        "XPROF_HUB_WORKERS": "http://127.0.0.1:1",
    }
    hub = hubs.start(env)
    make_run(hub)
    path = tmp_path / "vm.xplane.pb"
    path.write_bytes(os.urandom(40 << 20))
    port = int(hub.url.rpartition(":")[2])
    heard: list[int] = []
    restarts: list[threading.Thread] = []

    def kill_once(received: int) -> None:
        heard.append(received)
        if received >= 16 << 20 and not restarts:
            hub.kill()
            again = threading.Thread(target=lambda: hubs.start(env, port=port))
            restarts.append(again)
            again.start()

    with HubClient(hub.url) as client:
        client.uploads.send("r", "s", LocalProfile("vm", path), advance=kill_once)
        folder = client.sessions.get("r", "s").storage_folder_uri
    restarts[0].join()
    assert (Path(folder) / "vm.xplane.pb").read_bytes() == path.read_bytes()
    assert heard[-1] == 40 << 20


def test_memory_stays_the_same_however_large_the_file(hubs: HubFactory, tmp_path: Path) -> None:
    hub = hubs.start(
        {
            "XPROF_HUB_UPLOAD_ROOT": str(tmp_path / "uploads"),
            "XPROF_HUB_WORKERS": "http://127.0.0.1:1",
        }
    )
    make_run(hub)
    url = f"{hub.url}/v1{host_path('r', 's', 'vm')}"
    assert httpx2.put(url, content=b"warm up").status_code == 200
    before = peak_bytes(hub)
    block = os.urandom(1 << 20)

    def large() -> Iterator[bytes]:
        for _ in range(150):
            yield block

    answer = httpx2.put(url, content=large(), headers={"If-Match": "*"}, timeout=120)
    assert answer.json()["sizeBytes"] == 150 << 20
    assert peak_bytes(hub) - before < 40 << 20


def peak_bytes(hub: HubProcess) -> int:
    """The largest resident size that a hub's process has had."""
    status = Path(f"/proc/{hub.process.popen.pid}/status").read_text()
    found = re.search(r"^VmHWM:\s+(\d+) kB$", status, re.M)
    assert found is not None
    return int(found[1]) * 1024
