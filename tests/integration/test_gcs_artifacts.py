"""Artifact sets in a bucket: whole or absent, the first one stays, and failures count as misses."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import pytest

from loader.artifacts import MANIFEST
from loader.gcs_artifacts import GcsArtifacts
from tests.services.gcs import GcsEmulator

KEY = "0a" * 32
HOSTS = ["ü host"]


@pytest.fixture
def bucket(gcs_emulator: GcsEmulator) -> str:
    name = f"artifacts-{uuid4().hex[:8]}"
    gcs_emulator.create_bucket(name)
    return name


@pytest.fixture
def store(gcs_emulator: GcsEmulator, bucket: str) -> GcsArtifacts:
    return GcsArtifacts(gcs_emulator.client(), f"gs://{bucket}/cache/")


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    folder = tmp_path / "made"
    folder.mkdir()
    made = [folder / "ü host.SSTABLE", folder / "ü host.metadata.SSTABLE"]
    for index, path in enumerate(made):
        path.write_bytes(bytes([index]) * 100_000)
    return made


def fetch(store: GcsArtifacts, tmp_path: Path) -> tuple[tuple[str, ...] | None, list[str]]:
    target = tmp_path / uuid4().hex
    target.mkdir()
    manifest = store.fetch(KEY, target)
    names = sorted(path.name for path in target.iterdir())
    return (manifest.warnings if manifest else None), names


def test_a_set_comes_back(store: GcsArtifacts, files: list[Path], tmp_path: Path) -> None:
    assert not store.contains(KEY)
    assert fetch(store, tmp_path) == (None, [])
    store.publish(KEY, files, HOSTS, ["3 of 4 hosts"])
    assert store.contains(KEY)
    assert fetch(store, tmp_path) == (("3 of 4 hosts",), sorted(path.name for path in files))


def test_a_set_with_a_missing_or_cut_file_is_absent(
    store: GcsArtifacts, files: list[Path], tmp_path: Path, gcs_emulator: GcsEmulator, bucket: str
) -> None:
    store.publish(KEY, files, HOSTS, [])
    (cut,) = [
        blob
        for blob in gcs_emulator.client().list_blobs(bucket)
        if blob.name.endswith("/ü host.SSTABLE")
    ]
    cut.upload_from_string(b"cut")
    assert fetch(store, tmp_path) == (None, [])
    cut.delete()
    assert fetch(store, tmp_path) == (None, [])


def test_a_damaged_manifest_is_absent(
    store: GcsArtifacts, tmp_path: Path, gcs_emulator: GcsEmulator, bucket: str
) -> None:
    for text in (
        b"",
        b"folder",
        b'folder\n{"files": [["../x", 1]], "hosts": ["a"], "warnings": []}',
    ):
        gcs_emulator.upload(bucket, f"cache/{KEY}/{MANIFEST}", text)
        assert fetch(store, tmp_path) == (None, [])


def test_a_missing_bucket_is_a_miss_not_an_error(
    gcs_emulator: GcsEmulator, files: list[Path], tmp_path: Path
) -> None:
    store = GcsArtifacts(gcs_emulator.client(), f"gs://missing-{uuid4().hex}")
    store.publish(KEY, files, HOSTS, [])
    assert not store.contains(KEY)
    assert fetch(store, tmp_path) == (None, [])
