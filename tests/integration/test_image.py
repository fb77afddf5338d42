"""The image, built by its Dockerfile's own instructions and started as a container would be.

Real PostgreSQL, Redis and a bucket's emulator stand beside it. The base is made of this machine's Debian
packages and Python, as no container engine runs where the tests do (tests/services/fresh_root.py).
"""

from __future__ import annotations

import json
import os
import stat
import subprocess
import tempfile
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from uuid import uuid4

import pytest

from tests.services.fresh_root import folder_in_memory, tree, why_impossible
from tests.services.gcs import GcsEmulator
from tests.services.image import Builder, Image
from tests.services.postgres import PostgresServer
from tests.services.processes import Process, free_port, http_status
from tests.services.redis import RedisServer
from tests.services.root_commands import Confinement

ROOT = Path(__file__).resolve().parents[2]
SECRET = "a secret of these tests that is long enough"
LARGEST_BYTES = 900 << 20
"""Of the image with its base, unpacked. It has 675 MiB; much more means that something unexpected came in."""
DATA = "/var/lib/xprof-hub"
pytestmark = pytest.mark.timeout(600)
"""The first test waits for the build: 40 s on a quiet machine with two cores, minutes on a busy one."""


@pytest.fixture(scope="module")
def image() -> Iterator[Image]:
    if reason := why_impossible():
        pytest.skip(reason)
    work = Path(tempfile.mkdtemp(prefix="xprof-hub-image-", dir=folder_in_memory()))
    try:
        yield Builder(ROOT, work).build()
    finally:
        # Should something still be mounted there, it is not ours to delete.
        subprocess.run(["rm", "-rf", "--one-file-system", work], check=True, timeout=120)


def as_user(image: Image, command: list[str]) -> str:
    """What a command prints that the image's user runs, in a root that could be written."""
    confinement = Confinement(user=image.stage.user)
    return image.stage.root.run(command, image.stage.env, confinement, image.stage.folder)


def test_nothing_of_it_stays_mounted(image: Image) -> None:
    assert str(image.base.path.parent) not in Path("/proc/self/mountinfo").read_text()


def test_its_user_may_write_his_data_and_nothing_else(image: Image) -> None:
    assert image.stage.user == "10001:10001"
    assert image.stage.folder == DATA == image.stage.env["XPROF_HUB_DATA_DIR"]
    look = (
        "find / -xdev -writable ! -type l 2>/dev/null || true"  # Some folders he may not even read.
    )
    found = as_user(image, ["sh", "-c", look]).splitlines()
    shared = {"/tmp", "/var/tmp", "/run/lock"}
    assert DATA in found
    assert [name for name in found if not name.startswith(DATA) and name not in shared] == []


def test_nothing_in_it_changes_the_user(image: Image) -> None:
    def raised(root: Path) -> set[str]:
        bits = stat.S_ISUID | stat.S_ISGID
        return {
            str(path.relative_to(root))
            for path in tree(root)
            if path.is_file() and not path.is_symlink() and path.stat().st_mode & bits
        }

    assert raised(image.stage.root.path) == raised(image.base.path)


def test_it_can_neither_install_nor_compile(image: Image) -> None:
    files = [path for path in tree(image.stage.root.path) if not path.is_dir()]
    programs = {path.name for path in files if os.access(path, os.X_OK)}
    for tool in ("gcc", "cc", "c++", "ld", "make", "pip", "pip3", "git", "curl", "wget"):
        assert tool not in programs
    folders = {path.name for path in tree(image.stage.root.path) if path.is_dir()}
    assert not folders & {"pip", "hatchling", "setuptools", "wheel", "pytest"}


def test_it_holds_no_secret_and_no_leftover_of_its_making(image: Image) -> None:
    words = ("SECRET", "PASSWORD", "TOKEN", "CREDENTIAL", "PRIVATE")
    assert not [name for name in image.stage.env if any(word in name for word in words)]
    root = image.stage.root.path
    assert {path.name for path in root.iterdir()} - {p.name for p in image.base.path.iterdir()} <= {
        "opt",
        "proc",
        "dev",
        "tmp",
    }
    assert [path.name for path in (root / "opt").iterdir()] == ["xprof-hub"]
    assert not list((root / DATA[1:]).glob("*"))


def test_it_has_what_the_lock_promises_beside_the_hub(image: Image) -> None:
    # Export of spans is an option of the hub: no image of one's own is needed for it.
    listing = as_user(
        image,
        ["python", "-c", "import opentelemetry.sdk, xprof, psycopg; print('complete')"],
    )
    assert listing == "complete\n"


def test_its_size_is_what_we_expect(image: Image, capsys: pytest.CaptureFixture[str]) -> None:
    def size(root: Path) -> int:
        files = {(s.st_ino, s.st_blocks) for s in map(os.lstat, tree(root))}
        return sum(blocks * 512 for _, blocks in files)

    whole, base = size(image.stage.root.path), size(image.base.path)
    with capsys.disabled():
        print(f" the image has {whole >> 20} MiB, its base {base >> 20} MiB", end=" ")
    assert base < whole < LARGEST_BYTES


@dataclass(frozen=True)
class Running:
    """Front end and worker in containers of the image.

    Attributes:
        url: of the front end.
        front_env: all variables that the front end has.
        storage: root of the profiles.
    """

    url: str
    worker_url: str
    front: Process
    worker: Process
    front_env: Mapping[str, str]
    confinement: Confinement
    bucket: str


def is_ready(port: int) -> bool:
    return http_status(f"http://127.0.0.1:{port}/readyz") == 200


def settings_of(
    image: Image, stores: tuple[PostgresServer, RedisServer, GcsEmulator], ports: Mapping[str, int]
) -> tuple[str, dict[str, dict[str, str]]]:
    """The bucket of profiles, and the environment of each part, on stores of their own."""
    postgres, redis, gcs = stores
    name = f"image-{uuid4().hex[:8]}"
    for purpose in ("profiles", "cache", "uploads"):
        gcs.create_bucket(f"{name}-{purpose}")
    shared = {
        **image.stage.env,
        "STORAGE_EMULATOR_HOST": gcs.url,
        "XPROF_HUB_SECRET_KEY": SECRET,
        "XPROF_HUB_REDIS_URL": redis.url,
        "XPROF_HUB_STORAGE_ROOTS": f"gs://{name}-profiles",
        "XPROF_HUB_CACHE_ROOT": f"gs://{name}-cache/artifacts",
        "XPROF_HUB_UPLOAD_ROOT": f"gs://{name}-uploads/profiles",
        "XPROF_HUB_PREWARM": "false",
    }
    front = {
        **shared,
        "XPROF_HUB_PORT": str(ports["front"]),
        "XPROF_HUB_MIGRATE": "false",
        "XPROF_HUB_DATABASE_URL": postgres.create_database(),
        "XPROF_HUB_BASE_URL": f"http://localhost:{ports['front']}",
        "XPROF_HUB_CONTENT_URL": f"http://127.0.0.1:{ports['front']}",
        "XPROF_HUB_WORKERS": f"http://127.0.0.1:{ports['worker']}",
    }
    worker = {**shared, "XPROF_HUB_PORT": str(ports["worker"])}
    return f"{name}-profiles", {"worker": worker, "front": front}


@pytest.fixture(scope="module")
def running(
    image: Image,
    postgres_server: PostgresServer,
    redis_server: RedisServer,
    gcs_emulator: GcsEmulator,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Running]:
    redis_server.start()
    ports = {"front": free_port(), "worker": free_port()}
    stores = (postgres_server, redis_server, gcs_emulator)
    bucket, environments = settings_of(image, stores, ports)
    stage, processes, confinements = image.stage, {}, {}
    stage.root.run(
        ["xprof-hub", "migrate"], environments["front"], Confinement(stage.user), stage.folder
    )
    for part, env in environments.items():
        data = tmp_path_factory.mktemp(part)
        os.chown(data, 10001, 10001)
        confinements[part] = Confinement(stage.user, read_only=True, writable={DATA: data})
        command = [*image.definition.last("ENTRYPOINT").words, "serve", "--only", part]
        processes[part] = stage.root.start(
            command, env, confinements[part], data.with_suffix(".log"), stage.folder
        )
    try:
        for part, process in processes.items():
            process.wait_for(partial(is_ready, ports[part]), seconds=150)
        yield Running(
            f"http://127.0.0.1:{ports['front']}",
            f"http://127.0.0.1:{ports['worker']}",
            processes["front"],
            processes["worker"],
            environments["front"],
            confinements["front"],
            bucket,
        )
    finally:
        for process in processes.values():
            process.stop()


def test_both_parts_are_healthy_by_its_own_check(image: Image, running: Running) -> None:
    for url in (running.url, running.worker_url):
        assert http_status(f"{url}/healthz") == 200
    check = json.loads(image.definition.last("HEALTHCHECK").text.partition("CMD ")[2])
    image.stage.root.run(check, running.front_env, running.confinement, image.stage.folder)


def test_it_runs_without_rights_and_without_a_place_to_write_to_but_its_own(
    image: Image, running: Running
) -> None:
    def see(command: str) -> str:
        return image.stage.root.run(
            ["sh", "-c", command], running.front_env, running.confinement, DATA
        )

    status = dict(line.split(":\t", 1) for line in see("cat /proc/self/status").splitlines())
    assert status["Uid"].split() == status["Gid"].split() == ["10001"] * 4
    assert {int(status[name], 16) for name in ("CapEff", "CapPrm", "CapBnd", "CapInh")} == {0}
    assert status["NoNewPrivs"] == "1"
    assert see(
        "for place in / /opt /var/tmp . /tmp; do touch $place/x 2>/dev/null && echo $place; done; :"
    ).split() == [".", "/tmp"]


def call(url: str, token: str, body: Mapping[str, object] | None = None) -> bytes:
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
        content: bytes = answer.read()
        return content


def test_a_profile_opens_by_a_link(
    image: Image, running: Running, gcs_emulator: GcsEmulator, small_session: Path
) -> None:
    command = ["xprof-hub", "tokens", "create", "--local", "--role", "admin", "me"]
    token = image.stage.root.run(command, running.front_env, running.confinement, DATA).split()[-1]
    place = gcs_emulator.upload_folder(small_session, running.bucket, "r/plugins/profile/s")
    runs = f"{running.front_env['XPROF_HUB_BASE_URL']}/v1/machineLearningRuns"
    call(f"{runs}?machineLearningRunId=r", token, {"displayName": "r"})
    sessions = f"{runs}/r/profilerSessions"
    call(f"{sessions}?profilerSessionId=s", token, {"storageFolderUri": place})
    link = json.loads(call(f"{sessions}/s/shareLinks", token, {}))["uri"]
    assert link.startswith(running.front_env["XPROF_HUB_CONTENT_URL"])
    overview = call(f"{link}/data/plugin/profile/data?tag=overview_page&host=ALL_HOSTS", "")
    tables = json.loads(overview)
    assert next(t["p"] for t in tables if "host_count" in t.get("p", {}))["host_count"] == "2"


def test_it_ends_in_order_when_it_is_told_to(running: Running) -> None:
    assert [running.front.stop(), running.worker.stop()] == [0, 0]
    for process in (running.front, running.worker):
        assert "Traceback" not in process.log_text()
