"""Cloud Storage through the real client, against the emulator."""

from __future__ import annotations

import os
import time
import uuid
from pathlib import Path

import pytest

from loader.catalog import find_sessions, list_session
from loader.errors import ErrorCode, LoaderError
from loader.storage.gcs import RANGE_BYTES, GcsStorage
from loader.storage.roots import open_storage
from tests.services.gcs import GcsEmulator

NAMES = [
    "a b+c.xplane.pb",
    "100%25#1?x=1&y,z.xplane.pb",
    "u\u0308.xplane.pb",
    "\u00fc.xplane.pb",
    "日本語 🚀.xplane.pb",
]


@pytest.fixture
def bucket(gcs_emulator: GcsEmulator) -> str:
    """A new bucket."""
    name = f"b-{uuid.uuid4().hex}"
    gcs_emulator.create_bucket(name)
    return name


@pytest.fixture
def gcs(gcs_emulator: GcsEmulator) -> GcsStorage:
    return GcsStorage(gcs_emulator.client(), deadline_seconds=20)


def test_a_folder_lists_its_own_files_sorted(
    gcs: GcsStorage, gcs_emulator: GcsEmulator, bucket: str
) -> None:
    for name in ("a/b/2", "a/b/1", "a/b/deep/3", "a/bc/4", "a/b", "a/b/"):
        gcs_emulator.upload(bucket, name, b"x" * 5)
    files = gcs.list_files(f"gs://{bucket}/a/b")
    assert [(f.name, f.location, f.size) for f in files] == [
        ("1", f"gs://{bucket}/a/b/1", 5),
        ("2", f"gs://{bucket}/a/b/2", 5),
    ]
    assert gcs.list_files(f"gs://{bucket}/a/b/") == files
    assert gcs.list_folders(f"gs://{bucket}/a") == [f"gs://{bucket}/a/b", f"gs://{bucket}/a/bc"]
    assert gcs.list_folders(f"gs://{bucket}") == [f"gs://{bucket}/a"]
    assert gcs.list_files(f"gs://{bucket}/") == []


@pytest.mark.parametrize("name", NAMES)
def test_names_are_kept_as_they_are(
    gcs: GcsStorage, gcs_emulator: GcsEmulator, bucket: str, name: str, tmp_path: Path
) -> None:
    gcs_emulator.upload(bucket, f"{name} dir/{name}", name.encode())
    (folder,) = gcs.list_folders(f"gs://{bucket}")
    (file,) = gcs.list_files(folder)
    assert file.name == name
    assert gcs.list_files(file.location) == [file]
    gcs.download(file, tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == name.encode()


def test_a_single_profile_lists_as_itself_only(
    gcs: GcsStorage, gcs_emulator: GcsEmulator, bucket: str
) -> None:
    for name in ("s/h.xplane.pb", "s/h.xplane.pb.bak", "s/h.xplane.pb/x"):
        gcs_emulator.upload(bucket, name, b"x")
    files = gcs.list_files(f"gs://{bucket}/s/h.xplane.pb")
    assert [f.name for f in files] == ["h.xplane.pb"]
    assert gcs.list_files(f"gs://{bucket}/s/missing.xplane.pb") == []


def test_an_empty_place_and_a_missing_bucket_are_different_answers(
    gcs: GcsStorage, bucket: str
) -> None:
    assert gcs.list_files(f"gs://{bucket}/nothing/here") == []
    assert gcs.list_folders(f"gs://{bucket}/nothing/here") == []
    for ask in (gcs.list_files, gcs.list_folders):
        with pytest.raises(LoaderError) as caught:
            ask("gs://no-such-bucket-1234/x")
        assert caught.value.code is ErrorCode.BUCKET_NOT_FOUND
        assert "no-such-bucket-1234" in caught.value.message


def test_a_replaced_object_is_another_generation(
    gcs: GcsStorage, gcs_emulator: GcsEmulator, bucket: str, tmp_path: Path
) -> None:
    gcs_emulator.upload(bucket, "s/h.xplane.pb", b"old!")
    (old,) = gcs.list_files(f"gs://{bucket}/s")
    gcs_emulator.upload(bucket, "s/h.xplane.pb", b"newer")
    (new,) = gcs.list_files(f"gs://{bucket}/s")
    assert new.generation != old.generation
    with pytest.raises(LoaderError) as caught:
        gcs.download(old, tmp_path / "copy")
    assert caught.value.code is ErrorCode.SOURCE_CHANGED
    assert caught.value.file == "h.xplane.pb"
    gcs.download(new, tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == b"newer"


def test_parts_of_an_object(gcs: GcsStorage, gcs_emulator: GcsEmulator, bucket: str) -> None:
    gcs_emulator.upload(bucket, "s/a b#1.xplane.pb", b"0123456789")
    (file,) = gcs.list_files(f"gs://{bucket}/s")
    assert gcs.read_part(file, 0, 10) == b"0123456789"
    assert gcs.read_part(file, 3, 2) == b"34"
    gcs_emulator.client().bucket(bucket).delete_blob("s/a b#1.xplane.pb")
    with pytest.raises(LoaderError) as caught:
        gcs.read_part(file, 0, 2)
    assert caught.value.code is ErrorCode.SOURCE_CHANGED


def test_a_deleted_object_has_changed(
    gcs: GcsStorage, gcs_emulator: GcsEmulator, bucket: str, tmp_path: Path
) -> None:
    gcs_emulator.upload(bucket, "s/h.xplane.pb", b"x")
    (file,) = gcs.list_files(f"gs://{bucket}/s")
    gcs_emulator.client().bucket(bucket).delete_blob("s/h.xplane.pb")
    with pytest.raises(LoaderError) as caught:
        gcs.download(file, tmp_path / "copy")
    assert caught.value.code is ErrorCode.SOURCE_CHANGED


@pytest.mark.parametrize("size", [0, 1, RANGE_BYTES, RANGE_BYTES + 1, 2 * RANGE_BYTES + 12345])
def test_objects_of_all_sizes_arrive_whole(
    gcs: GcsStorage, gcs_emulator: GcsEmulator, bucket: str, size: int, tmp_path: Path
) -> None:
    content = os.urandom(size)
    gcs_emulator.upload(bucket, "s/h.xplane.pb", content)
    (file,) = gcs.list_files(f"gs://{bucket}/s")
    assert file.size == size
    gcs.download(file, tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == content


def test_a_session_is_found_below_a_root_as_in_production(
    gcs_emulator: GcsEmulator, bucket: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", gcs_emulator.url)
    base = "logs/run 1/plugins/profile/2026_01_01"
    for host in ("w-1", "w-0"):
        gcs_emulator.upload(bucket, f"{base}/{host}.xplane.pb", host.encode())
    gcs_emulator.upload(bucket, f"{base}/ALL_HOSTS.op_stats_v2.pb", b"forged")
    storage = open_storage([f"gs://{bucket}/logs"])
    (location,) = find_sessions(storage, f"gs://{bucket}/logs/run 1")
    session = list_session(storage, (location,))
    assert session.host_names == ("w-0", "w-1")
    storage.download(session.hosts[1].file, tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == b"w-1"
    with pytest.raises(LoaderError) as caught:
        storage.list_files(f"gs://{bucket}/logs2")
    assert caught.value.code is ErrorCode.PERMISSION_DENIED


def test_a_listed_object_says_when_it_was_written(
    gcs: GcsStorage, gcs_emulator: GcsEmulator, bucket: str
) -> None:
    before = time.time()
    gcs_emulator.upload(bucket, "a/1", b"x")
    (file,) = gcs.list_files(f"gs://{bucket}/a")
    assert file.modified is not None
    assert before - 2 < file.modified < time.time() + 2
