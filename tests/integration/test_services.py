"""The services that other tests rely on do what they promise."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest
import redis

from tests.services.gcs import GcsEmulator
from tests.services.processes import Process, ServiceError
from tests.services.redis import RedisServer


def test_redis_comes_back_empty_on_the_same_address(redis_server: RedisServer) -> None:
    client = redis.Redis.from_url(redis_server.url)
    client.set("key", b"value")
    redis_server.stop()
    with pytest.raises(redis.ConnectionError):
        client.get("key")
    redis_server.start()
    assert client.get("key") is None


def test_emulator_keeps_what_the_client_uploads(gcs_emulator: GcsEmulator, tmp_path: Path) -> None:
    (tmp_path / "host 0+é.xplane.pb").write_bytes(b"profile")
    gcs_emulator.create_bucket("services-test")
    location = gcs_emulator.upload_folder(tmp_path, "services-test", "a/b")
    assert location == "gs://services-test/a/b"
    blobs = list(gcs_emulator.client().list_blobs("services-test", prefix="a/b/"))
    assert [blob.name for blob in blobs] == ["a/b/host 0+é.xplane.pb"]
    assert blobs[0].generation
    assert blobs[0].download_as_bytes() == b"profile"


def test_every_postgres_database_is_new(postgres_url: str) -> None:
    address = postgres_url.replace("+psycopg", "")
    with psycopg.connect(address) as connection:
        row = connection.execute(
            "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
        ).fetchone()
    assert row == (0,)


def test_process_that_ends_early_is_reported_with_its_output(tmp_path: Path) -> None:
    process = Process.start("failing", ["sh", "-c", "echo some reason; exit 3"], tmp_path / "log")
    with pytest.raises(ServiceError, match=r"failing ended with 3:\nsome reason"):
        process.wait_for(lambda: False)
