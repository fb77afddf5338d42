"""Artifact sets in a bucket: whole or absent, the first one stays, and failures count as misses."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import pytest
import requests

from loader.caches.artifacts import MANIFEST
from loader.caches.gcs_artifacts import GcsArtifacts
from loader.errors import LoaderError
from tests.integration.fake_gcs import Answer, hashes, serving
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
    """The set's warnings, and the names of what was placed."""
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


def test_only_the_wanted_files_are_fetched(
    store: GcsArtifacts, files: list[Path], tmp_path: Path
) -> None:
    store.publish(KEY, files, HOSTS, [])
    target = tmp_path / "job"
    target.mkdir()
    manifest = store.fetch(KEY, target, lambda name: name == files[0].name)
    assert manifest is not None
    assert len(manifest.files) == 2
    assert [path.name for path in target.iterdir()] == [files[0].name]


def test_a_set_names_its_hosts(store: GcsArtifacts, files: list[Path], tmp_path: Path) -> None:
    store.publish(KEY, files, ["ü host", "b"], [])
    manifest = store.fetch(KEY, tmp_path)
    assert manifest is not None
    assert manifest.hosts == ("ü host", "b")


def test_a_useless_set_is_discarded_and_made_again(
    store: GcsArtifacts, files: list[Path], tmp_path: Path
) -> None:
    store.publish(KEY, files, HOSTS, ["old"])
    assert fetch(store, tmp_path)[0] == ("old",)
    store.discard(KEY)
    assert not store.contains(KEY)
    store.publish(KEY, files, HOSTS, ["new"])
    assert fetch(store, tmp_path)[0] == ("new",)


@pytest.mark.parametrize("text", [b"", b'folder\n{"files": [["a", 1]], "warnings": []}'])
def test_a_damaged_manifest_is_discarded(
    store: GcsArtifacts, tmp_path: Path, gcs_emulator: GcsEmulator, bucket: str, text: bytes
) -> None:
    gcs_emulator.upload(bucket, f"cache/{KEY}/{MANIFEST}", text)
    assert store.contains(KEY)
    assert fetch(store, tmp_path) == (None, [])
    store.discard(KEY)
    assert not store.contains(KEY)


def test_only_the_set_that_was_read_is_discarded(
    store: GcsArtifacts, files: list[Path], tmp_path: Path, gcs_emulator: GcsEmulator, bucket: str
) -> None:
    store.discard(KEY)
    store.publish(KEY, files, HOSTS, ["old"])
    store.discard(KEY)  # nobody has read it, so nobody can know that it is useless
    assert fetch(store, tmp_path)[0] == ("old",)
    other = GcsArtifacts(gcs_emulator.client(), f"gs://{bucket}/cache")
    assert fetch(other, tmp_path)[0] == ("old",)
    other.discard(KEY)
    other.publish(KEY, files, HOSTS, ["new"])
    store.discard(KEY)
    assert fetch(store, tmp_path)[0] == ("new",)


def test_the_manifest_is_removed_only_in_the_generation_that_was_looked_at(
    files: list[Path], tmp_path: Path, gcs_emulator: GcsEmulator, bucket: str
) -> None:
    client, removals = gcs_emulator.client(), []

    def note(response: requests.Response, **_: Any) -> None:
        if response.request.method == "DELETE":
            removals.append(parse_qs(urlsplit(str(response.request.url)).query))

    client._http.hooks["response"].append(note)
    store = GcsArtifacts(client, f"gs://{bucket}")
    store.publish(KEY, files, HOSTS, [])
    fetch(store, tmp_path)
    blob = gcs_emulator.client().bucket(bucket).get_blob(f"{KEY}/{MANIFEST}")
    assert blob is not None
    store.discard(KEY)
    (removal,) = removals
    assert removal["ifGenerationMatch"] == [str(blob.generation)]


def test_a_failure_of_our_own_disk_does_not_discard_the_set(
    store: GcsArtifacts, files: list[Path], tmp_path: Path
) -> None:
    store.publish(KEY, files, HOSTS, [])
    assert store.fetch(KEY, tmp_path / "absent") is None
    store.discard(KEY)
    assert fetch(store, tmp_path)[0] == ()


def test_a_file_with_a_wrong_checksum_is_a_miss(tmp_path: Path) -> None:
    with serving() as state:
        state.objects[f"{KEY}/{MANIFEST}"] = (
            b'folder\n{"files": [["a", 4]], "hosts": ["a"], "warnings": []}'
        )
        state.objects[f"{KEY}/folder/a"] = b"good"
        store = GcsArtifacts(state.client(), "gs://bucket")
        assert fetch(store, tmp_path) == ((), ["a"])
        wrong = {"X-Goog-Hash": f"crc32c={hashes(b'good')['crc32c']}"}
        state.trouble = lambda request: (
            Answer(200, b"evil", wrong) if request.path.endswith("/folder/a") else None
        )
        assert fetch(store, tmp_path) == (None, [])


def test_files_that_cannot_be_read_are_not_published(
    store: GcsArtifacts, files: list[Path], tmp_path: Path
) -> None:
    store.publish(KEY, [*files, tmp_path / "absent"], HOSTS, [])
    assert not store.contains(KEY)


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
    store.discard(KEY)
    assert not store.contains(KEY)
    assert fetch(store, tmp_path) == (None, [])


def test_sets_of_a_session_are_deleted_with_all_their_files(
    store: GcsArtifacts, gcs_emulator: GcsEmulator, bucket: str, files: list[Path]
) -> None:
    mine = ["ab" * 8 + "0" * 48, "ab" * 8 + "1" * 48]
    for key in (*mine, KEY):
        store.publish(key, files, HOSTS, [])
    assert store.forget(["ab" * 8, "cd" * 8]) == 2
    left = {blob.name.split("/")[1] for blob in gcs_emulator.client().list_blobs(bucket)}
    assert left == {KEY}
    assert store.forget(["ab" * 8]) == 0


def test_a_bucket_of_artifacts_that_is_gone_is_no_success(gcs_emulator: GcsEmulator) -> None:
    store = GcsArtifacts(gcs_emulator.client(), f"gs://missing-{uuid4().hex[:8]}/cache")
    with pytest.raises(LoaderError):
        store.forget(["ab" * 8])
