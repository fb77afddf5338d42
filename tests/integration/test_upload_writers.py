"""Writing below the upload root: whole or absent, never over another file, on a disk and in a bucket."""

from __future__ import annotations

import hashlib
import os
import resource
import stat
import time
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest

from loader.errors import ErrorCode, LoaderError
from loader.storage.base import Storage, StoredFile
from loader.storage.gcs import GcsStorage
from loader.storage.gcs_writer import GcsWriter
from loader.storage.local import LocalStorage
from loader.storage.local_writer import LocalWriter
from loader.storage.writing import AlreadyThereError, FileWriter, checked_root, open_writer
from tests.services.gcs import GcsEmulator

LARGE = 9 << 20
"""More than one chunk of a resumable upload."""


class Place:
    """A root with its writer, and the storage that reads it."""

    def __init__(self, root: str, writer: FileWriter, storage: Storage) -> None:
        self.root = root
        self.writer = writer
        self.storage = storage

    def put(self, name: str, content: bytes) -> StoredFile:
        draft = self.writer.begin(f"{self.root}/{name}")
        draft.write(content)
        return draft.finish()

    def names(self, folder: str) -> list[str]:
        try:
            return [file.name for file in self.storage.list_files(f"{self.root}/{folder}")]
        except LoaderError as error:
            assert error.code is ErrorCode.NOT_FOUND
            return []

    def content(self, file: StoredFile) -> bytes:
        blocks: list[bytes] = []
        self.writer.read(file, blocks.append)
        return b"".join(blocks)


@pytest.fixture(params=["disk", "bucket"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "disk":
        root = str(tmp_path / "uploads")
        return Place(root, open_writer(root), LocalStorage())
    emulator: GcsEmulator = request.getfixturevalue("gcs_emulator")
    bucket = f"uploads-{uuid4().hex[:8]}"
    emulator.create_bucket(bucket)
    root = f"gs://{bucket}/some where"
    return Place(root, GcsWriter(emulator.client(), root), GcsStorage(emulator.client()))


@pytest.mark.parametrize("size", [1, 1000, LARGE])
def test_a_file_appears_whole_when_it_is_finished(place: Place, size: int) -> None:
    content = os.urandom(size)
    draft = place.writer.begin(f"{place.root}/a/ü 1.xplane.pb")
    draft.write(content[: size // 2])
    assert [name for name in place.names("a") if not name.startswith(".")] == []
    draft.write(content[size // 2 :])
    file = draft.finish()
    assert place.storage.list_files(f"{place.root}/a") == [file]
    assert (file.name, file.size) == ("ü 1.xplane.pb", size)
    assert place.content(file) == content


def test_a_discarded_draft_leaves_nothing(place: Place) -> None:
    draft = place.writer.begin(f"{place.root}/a/x")
    draft.write(b"x" * LARGE)
    draft.discard()
    draft.discard()
    assert place.names("a") == []


@pytest.mark.parametrize("count", [1, 2, 70])
def test_parts_become_one_file_in_their_order(place: Place, count: int) -> None:
    parts = [place.put(f"a/{index:03}", bytes([index]) * (index + 1)) for index in range(count)]
    whole = place.writer.join(parts, f"{place.root}/a/whole")
    expected = b"".join(bytes([index]) * (index + 1) for index in range(count))
    assert place.content(whole) == expected
    assert whole.size == len(expected)


def test_a_part_that_is_gone_ends_the_joining(place: Place) -> None:
    parts = [place.put(f"a/{index}", b"x") for index in range(3)]
    assert place.writer.remove(parts[1])
    with pytest.raises(LoaderError) as caught:
        place.writer.join(parts, f"{place.root}/a/whole")
    assert caught.value.code is ErrorCode.SOURCE_CHANGED
    assert "whole" not in place.names("a")


def test_a_published_draft_is_in_its_place_and_nowhere_else(place: Place) -> None:
    draft = place.put("drafts/1", b"content")
    file = place.writer.publish(draft, f"{place.root}/s/vm.xplane.pb")
    assert place.storage.list_files(f"{place.root}/s") == [file]
    assert place.content(file) == b"content"


def test_removing_takes_exactly_the_file_that_was_seen(place: Place) -> None:
    file = place.put("a/x", b"1")
    assert place.writer.remove(file)
    assert place.names("a") == []
    assert not place.writer.remove(file)


def test_only_folders_in_which_nothing_was_written_lately_are_removed(place: Place) -> None:
    place.put("parts/one/a", b"1")
    place.put("parts/one/b", b"2")
    place.put("parts/two/a", b"3")
    place.put("kept/a", b"4")
    assert place.writer.remove_idle(f"{place.root}/parts", time.time() - 3600) == 0
    assert place.names("parts/one") == ["a", "b"]
    assert place.writer.remove_idle(f"{place.root}/parts", time.time() + 3600) == 3
    assert place.names("parts/one") == place.names("parts/two") == []
    assert place.names("kept") == ["a"]
    assert place.writer.remove_idle(f"{place.root}/never made", time.time()) == 0


@pytest.mark.parametrize("name", ["../out", "a/../../out", "a//b", ""])
def test_nothing_is_written_outside_the_root(place: Place, name: str) -> None:
    with pytest.raises(LoaderError) as caught:
        place.writer.begin(f"{place.root}/{name}")
    assert caught.value.code is ErrorCode.PERMISSION_DENIED
    with pytest.raises(LoaderError):
        place.writer.begin(f"{place.root}-beside/x")


@pytest.fixture
def disk(tmp_path: Path) -> Place:
    root = str(tmp_path / "uploads")
    return Place(root, LocalWriter(root), LocalStorage())


def test_the_first_of_two_files_stays(disk: Place) -> None:
    first = disk.writer.begin(f"{disk.root}/a/x")
    second = disk.writer.begin(f"{disk.root}/a/x")
    first.write(b"first")
    second.write(b"second")
    file = first.finish()
    with pytest.raises(AlreadyThereError):
        second.finish()
    second.discard()
    assert disk.storage.list_files(f"{disk.root}/a") == [file]
    with pytest.raises(AlreadyThereError):
        disk.writer.publish(disk.put("d/1", b"third"), f"{disk.root}/a/x")
    assert disk.content(file) == b"first"


def test_a_file_is_replaced_only_by_who_knows_it(disk: Place) -> None:
    old = disk.put("a/x", b"old")
    draft = disk.put("d/1", b"new")
    for stale in ("no generation", ""):
        with pytest.raises(AlreadyThereError):
            disk.writer.publish(draft, old.location, replaces=stale)
    new = disk.writer.publish(draft, old.location, replaces=old.generation)
    assert disk.content(new) == b"new"
    with pytest.raises(AlreadyThereError):
        disk.writer.publish(disk.put("d/2", b"newer"), old.location, replaces=old.generation)
    with pytest.raises(LoaderError):
        disk.writer.read(old, lambda _block: None)


def test_only_the_hubs_user_may_read_uploads(disk: Place) -> None:
    file = disk.put("a/x", b"1")
    assert stat.S_IMODE(Path(file.location).stat().st_mode) == 0o600
    assert stat.S_IMODE(Path(disk.root).stat().st_mode) == 0o700


def test_a_full_disk_is_said_and_leaves_nothing(disk: Place) -> None:
    draft = disk.writer.begin(f"{disk.root}/a/x")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        with pytest.raises(LoaderError) as caught:
            draft.write(b"x" * 8192)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    draft.discard()
    assert caught.value.code is ErrorCode.STORAGE_FULL
    assert disk.root not in caught.value.message
    assert list((Path(disk.root) / "a").iterdir()) == []


@pytest.mark.parametrize("root", ["relative", "gs://", "gs://UPPER/x", "gs://b/../c", "/a//b", "/"])
def test_a_root_is_a_bucket_or_an_absolute_directory(root: str) -> None:
    with pytest.raises(LoaderError) as caught:
        checked_root(root)
    assert caught.value.code is ErrorCode.INVALID_REQUEST


def test_content_is_the_same_after_many_small_blocks(place: Place) -> None:
    blocks = [os.urandom(70_001) for _ in range(100)]
    draft = place.writer.begin(f"{place.root}/a/x")
    for block in blocks:
        draft.write(block)
    seen = hashlib.sha256()
    take: Callable[[bytes], None] = seen.update
    place.writer.read(draft.finish(), take)
    assert seen.digest() == hashlib.sha256(b"".join(blocks)).digest()
