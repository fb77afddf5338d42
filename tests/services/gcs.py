"""A GCS emulator in a process of its own, and uploads to it through the real client."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from google.auth.credentials import AnonymousCredentials
from google.cloud import storage

from tests.services.processes import Process, free_port, http_status


@dataclass(frozen=True)
class GcsEmulator:
    """A running emulator.

    Attributes:
        url: base address, the value for STORAGE_EMULATOR_HOST.
    """

    url: str

    def client(self) -> storage.Client:
        """A real client that talks to the emulator."""
        return storage.Client(
            project="test",
            credentials=AnonymousCredentials(),
            client_options={"api_endpoint": self.url},
        )

    def create_bucket(self, name: str) -> None:
        """Makes a bucket."""
        self.client().create_bucket(name)

    def upload(self, bucket: str, name: str, data: bytes) -> None:
        """Writes one object."""
        self.client().bucket(bucket).blob(name).upload_from_string(
            data, content_type="application/octet-stream"
        )

    def upload_folder(self, folder: Path, bucket: str, prefix: str) -> str:
        """Uploads a folder's files as `prefix/<file name>`; returns the `gs://` address of the prefix."""
        for path in sorted(folder.iterdir()):
            if path.is_file():
                self.upload(bucket, f"{prefix}/{path.name}", path.read_bytes())
        return f"gs://{bucket}/{prefix}"


@pytest.fixture(scope="session")
def gcs_emulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GcsEmulator]:
    """One emulator for all tests; each test makes its own bucket."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    program = Path(sys.executable).parent / "gcp-storage-emulator"
    command: list[str | Path] = [
        program,
        "start",
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        "--in-memory",
    ]
    log = tmp_path_factory.mktemp("gcs") / "gcs.log"
    process = Process.start("gcp-storage-emulator", command, log)
    try:
        process.wait_for(lambda: http_status(url) == 200)
        yield GcsEmulator(url)
    finally:
        process.stop(5)
