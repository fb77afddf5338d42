"""A deployment in small: front ends and workers as processes, Redis, a GCS emulator and one database."""

from __future__ import annotations

import gzip
import json
import re
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest

from tests.services.gcs import GcsEmulator
from tests.services.hub import HubFactory, HubProcess, share
from tests.services.redis import RedisServer

SECRET = "a secret that all processes of one test share"
PROFILE_PATH = "/data/plugin/profile"


@dataclass(frozen=True)
class Answer:
    """What a GET gave."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> object:
        """The body as JSON."""
        return json.loads(self.body)


def get(url: str, headers: Mapping[str, str] | None = None, timeout: float = 120) -> Answer:
    """GET without following redirects to other hosts; gzip bodies are unpacked."""
    request = urllib.request.Request(url, headers={"Accept-Encoding": "gzip", **(headers or {})})
    try:
        with urllib.request.urlopen(request, timeout=timeout) as response:
            status, found, body = response.status, response.headers, response.read()
    except urllib.error.HTTPError as error:
        status, found, body = error.code, error.headers, error.read()
    if found.get("Content-Encoding") == "gzip" and body:
        body = gzip.decompress(body)
    return Answer(status, {name.lower(): value for name, value in found.items()}, body)


def conversions(*workers: HubProcess) -> dict[tuple[str, str], int]:
    """Successful engine runs of the workers together, by tool and source."""
    counts: dict[tuple[str, str], int] = {}
    pattern = re.compile(
        r'^xprof_hub_conversions_total\{outcome="ok",source="(\w+)",tool="([^"]+)"\} ([\d.e+]+)$',
        re.M,
    )
    for worker in workers:
        for source, tool, value in pattern.findall(get(f"{worker.url}/metrics").body.decode()):
            counts[tool, source] = counts.get((tool, source), 0) + int(float(value))
    return counts


@dataclass
class Cluster:
    """Starts parts that know each other.

    Attributes:
        bucket: name of a bucket of the emulator; workers and front ends may read it.
        env: settings that all parts share.
    """

    hubs: HubFactory
    gcs: GcsEmulator
    bucket: str
    env: dict[str, str]

    def worker(self, **changed: str) -> HubProcess:
        """A worker with a data directory of its own."""
        return self.hubs.start({**self.env, **changed}, only="worker")

    def front(self, *workers: HubProcess, **changed: str) -> HubProcess:
        """A front end that asks these workers."""
        urls = ",".join(worker.url for worker in workers)
        return self.hubs.start({**self.env, "XPROF_HUB_WORKERS": urls, **changed}, only="front")

    def upload(self, folder: Path, name: str = "session") -> str:
        """Puts a session's files into the bucket; returns its location."""
        return self.gcs.upload_folder(folder, self.bucket, f"runs/r/plugins/profile/{name}")

    def share(self, front: HubProcess, location: str) -> str:
        """The address of XProf under a new link, on this front end."""
        return share(front.url, f"run {uuid4().hex[:8]}", "session", location) + PROFILE_PATH


@pytest.fixture
def cluster(
    hubs: HubFactory, gcs_emulator: GcsEmulator, redis_server: RedisServer, tmp_path: Path
) -> Iterator[Cluster]:
    """Redis, a bucket, a database and a shared artifact directory, and a factory of parts."""
    redis_server.start()
    bucket = f"bucket-{uuid4().hex[:8]}"
    gcs_emulator.create_bucket(bucket)
    env = {
        "STORAGE_EMULATOR_HOST": gcs_emulator.url,
        "XPROF_HUB_SECRET_KEY": SECRET,
        "XPROF_HUB_REDIS_URL": redis_server.url,
        "XPROF_HUB_DATABASE_URL": f"sqlite:///{tmp_path / 'registry.sqlite'}",
        "XPROF_HUB_STORAGE_ROOTS": f"gs://{bucket}",
        "XPROF_HUB_CACHE_ROOT": str(tmp_path / "artifacts"),
    }
    yield Cluster(hubs, gcs_emulator, bucket, env)
    redis_server.start()
