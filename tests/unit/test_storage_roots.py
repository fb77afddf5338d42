"""Nothing outside the configured roots can be listed or read, by whatever spelling or link."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from loader.errors import ErrorCode, LoaderError
from loader.storage.base import PAGE_ENTRIES, FolderPage, Storage, StoredFile, ignore
from loader.storage.local import LocalStorage
from loader.storage.roots import RootedStorage, open_storage

SECRET = b"not yours"


class RecordingBucket:
    """A bucket without network: remembers what it was asked, and has one file in every folder."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def list_files(self, location: str) -> list[StoredFile]:
        self.asked.append(location)
        return [StoredFile(f"{location.rstrip('/')}/h.xplane.pb", "h.xplane.pb", 1, "1")]

    def list_folders(self, location: str) -> list[str]:
        self.asked.append(location)
        return [f"{location.rstrip('/')}/run"]

    def list_folder_page(
        self, location: str, after: str = "", most: int = PAGE_ENTRIES
    ) -> FolderPage:
        self.asked.append(location)
        return FolderPage((f"{location.rstrip('/')}/run",), "")

    def download(
        self, file: StoredFile, destination: Path, wrote: Callable[[int], None] = ignore
    ) -> None:
        self.asked.append(file.location)

    def read_part(self, file: StoredFile, _start: int, _length: int) -> bytes:
        self.asked.append(file.location)
        return b""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A root with a session, and a secret beside it."""
    path = tmp_path / "root"
    (path / "session").mkdir(parents=True)
    (path / "session" / "a.xplane.pb").write_bytes(b"profile")
    (tmp_path / "root2").mkdir()
    (tmp_path / "root2" / "s.xplane.pb").write_bytes(SECRET)
    return path


def denied(storage: Storage, location: str) -> LoaderError:
    with pytest.raises(LoaderError) as caught:
        storage.list_files(location)
    with pytest.raises(LoaderError):
        storage.list_folders(location)
    with pytest.raises(LoaderError):
        storage.list_folder_page(location)
    assert caught.value.code is ErrorCode.PERMISSION_DENIED
    assert "not under the configured storage roots" in caught.value.message
    return caught.value


def test_a_session_under_a_root_can_be_read(root: Path, tmp_path: Path) -> None:
    storage = open_storage([str(root)])
    (file,) = storage.list_files(str(root / "session"))
    storage.download(file, tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == b"profile"
    assert storage.list_folders(f"{root}/") == [f"{root}/session"]


@pytest.mark.parametrize(
    "location",
    [
        "{tmp}/root2",
        "{tmp}/root2/s.xplane.pb",
        "{tmp}",
        "/",
        "",
        "root",
        "{root}/../root2",
        "{root}/./session",
        "{root}//session",
        "//{root}",
        "{root}/session\0",
        "file://{root}/session",
        "gs://bucket/x",
        "GS://bucket/x",
    ],
)
def test_other_places_and_spellings_are_denied(root: Path, location: str) -> None:
    storage = open_storage([str(root)])
    denied(storage, location.format(root=root, tmp=root.parent))


def test_the_message_tells_nothing_of_the_server_but_the_callers_words(root: Path) -> None:
    error = denied(open_storage([str(root)]), "/etc/passwd")
    assert "'/etc/passwd'" in error.message
    assert str(root) not in error.message


def test_without_roots_nothing_can_be_read(root: Path) -> None:
    denied(open_storage([]), str(root / "session"))
    denied(open_storage([]), "gs://bucket/x")


def test_links_out_of_a_root_are_neither_listed_nor_followed(root: Path) -> None:
    storage = open_storage([str(root)])
    (root / "session" / "s.xplane.pb").symlink_to(root.parent / "root2" / "s.xplane.pb")
    (root / "session" / "out").symlink_to(root.parent / "root2")
    (root / "session" / "in").symlink_to(root / "session")
    assert [f.name for f in storage.list_files(f"{root}/session")] == ["a.xplane.pb"]
    assert storage.list_folders(f"{root}/session") == [f"{root}/session/in"]
    denied(storage, f"{root}/session/out")
    denied(storage, f"{root}/session/s.xplane.pb")


def test_a_link_inside_the_root_can_be_read(root: Path, tmp_path: Path) -> None:
    storage = open_storage([str(root)])
    (root / "session" / "b.xplane.pb").symlink_to("a.xplane.pb")
    file = storage.list_files(f"{root}/session")[1]
    assert file.name == "b.xplane.pb"
    storage.download(file, tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == b"profile"


def test_a_root_may_itself_be_a_link(root: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(root)
    storage = open_storage([str(tmp_path / "link")])
    assert len(storage.list_files(f"{tmp_path}/link/session")) == 1
    assert len(storage.list_files(f"{root}/session")) == 1


def test_a_file_swapped_for_a_link_after_the_listing_is_not_read(
    root: Path, tmp_path: Path
) -> None:
    storage = open_storage([str(root)])
    (file,) = storage.list_files(f"{root}/session")
    Path(file.location).unlink()
    Path(file.location).symlink_to(tmp_path / "root2" / "s.xplane.pb")
    with pytest.raises(LoaderError) as caught:
        storage.download(file, tmp_path / "copy")
    assert caught.value.code is ErrorCode.PERMISSION_DENIED
    assert not (tmp_path / "copy").exists()


def test_a_folder_swapped_for_a_link_after_the_listing_is_not_read(
    root: Path, tmp_path: Path
) -> None:
    storage = open_storage([str(root)])
    (file,) = storage.list_files(f"{root}/session")
    (root / "session").rename(tmp_path / "elsewhere")
    (root / "session").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(LoaderError) as caught:
        storage.download(file, tmp_path / "copy")
    assert caught.value.code is ErrorCode.PERMISSION_DENIED


def test_a_relative_root_is_taken_from_the_working_directory(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root.parent)
    storage = open_storage(["root"])
    monkeypatch.chdir("/")
    assert len(storage.list_files(f"{root}/session")) == 1


def bucket_storage(*roots: str) -> tuple[RootedStorage, RecordingBucket]:
    bucket = RecordingBucket()
    return RootedStorage(roots, lambda: bucket, LocalStorage()), bucket


@pytest.mark.parametrize("root", ["gs://bucket/pre", "gs://bucket/pre/"])
def test_a_bucket_prefix_covers_whole_segments_only(root: str) -> None:
    storage, bucket = bucket_storage(root)
    for good in ("gs://bucket/pre", "gs://bucket/pre/", "gs://bucket/pre/x/y"):
        assert storage.list_files(good)
    bucket.asked.clear()
    for bad in (
        "gs://bucket/prefix",
        "gs://bucket/pre.x",
        "gs://bucket",
        "gs://bucket2/pre",
        "gs://bucket/pre/../x",
        "gs://bucket/pre//x",
        "gs://bucket/pre/./x",
        "gs://bucket//pre",
        "gs://bucket/%70re",
        "gs://Bucket/pre",
    ):
        denied(storage, bad)
    assert bucket.asked == []


def test_a_whole_bucket_can_be_a_root() -> None:
    storage, _ = bucket_storage("gs://bucket")
    assert storage.list_folders("gs://bucket/") == ["gs://bucket/run"]
    denied(storage, "gs://bucket2/x")


def test_nfc_and_nfd_are_different_prefixes() -> None:
    storage, _ = bucket_storage("gs://bucket/\u00fc")
    denied(storage, "gs://bucket/u\u0308/x")


def test_a_made_up_file_outside_the_roots_is_not_downloaded(tmp_path: Path) -> None:
    storage, bucket = bucket_storage("gs://bucket/pre")
    for location in ("gs://bucket/other", "/etc/passwd"):
        with pytest.raises(LoaderError) as caught:
            storage.download(StoredFile(location, "passwd", 1, "1"), tmp_path / "copy")
        assert caught.value.code is ErrorCode.PERMISSION_DENIED
    assert bucket.asked == []


def test_the_bucket_client_is_made_at_first_use_and_again_after_a_failure() -> None:
    attempts: list[int] = []

    def connect() -> Storage:
        attempts.append(1)
        if len(attempts) == 1:
            raise LoaderError(ErrorCode.PERMISSION_DENIED, "no credentials")
        return RecordingBucket()

    storage = RootedStorage(["gs://bucket"], connect, LocalStorage())
    assert attempts == []
    with pytest.raises(LoaderError):
        storage.list_files("gs://bucket/x")
    storage.list_files("gs://bucket/x")
    storage.list_files("gs://bucket/x")
    assert len(attempts) == 2


@pytest.mark.parametrize("root", ["gs://", "gs://bucket/../x", "gs://b?/x", "", " ", "s3://bucket"])
def test_a_root_that_means_nothing_is_refused_at_the_start(root: str) -> None:
    with pytest.raises(LoaderError) as caught:
        open_storage([root])
    assert caught.value.code is ErrorCode.INVALID_REQUEST
