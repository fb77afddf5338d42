"""A session's hosts when they lie in several folders."""

import threading
from pathlib import Path

import pytest

from loader.catalog import list_session
from loader.errors import ErrorCode, LoaderError
from loader.storage.base import StoredFile
from loader.storage.local import LocalStorage
from loader.storage.roots import open_storage


def fill(folder: Path, *hosts: str) -> str:
    folder.mkdir()
    for host in hosts:
        (folder / f"{host}.xplane.pb").write_bytes(b"x")
    return str(folder)


def test_hosts_of_all_folders_are_one_session_sorted_by_name(tmp_path: Path) -> None:
    late, early = fill(tmp_path / "2", "c", "a"), fill(tmp_path / "1", "b")
    session = list_session(LocalStorage(), (late, early))
    assert session.locations == (late, early)
    assert session.host_names == ("a", "b", "c")
    assert [entry.file.location for entry in session.hosts] == [
        f"{late}/a.xplane.pb",
        f"{early}/b.xplane.pb",
        f"{late}/c.xplane.pb",
    ]


def test_a_host_in_two_folders_is_refused_by_name(tmp_path: Path) -> None:
    folders = (fill(tmp_path / "1", "a", "b"), fill(tmp_path / "2", "b", "c"))
    with pytest.raises(LoaderError) as caught:
        list_session(LocalStorage(), folders)
    assert caught.value.code is ErrorCode.MALFORMED
    assert caught.value.file == "b.xplane.pb"
    assert "“b”" in caught.value.message
    assert str(tmp_path) not in caught.value.message


def test_a_folder_that_is_gone_or_empty_hides_nothing(tmp_path: Path) -> None:
    folders = (fill(tmp_path / "1"), str(tmp_path / "gone"), fill(tmp_path / "2", "a"))
    assert list_session(LocalStorage(), folders).host_names == ("a",)
    with pytest.raises(LoaderError, match="no profile") as caught:
        list_session(LocalStorage(), folders[:2])
    assert caught.value.code is ErrorCode.NOT_FOUND


def test_one_folder_that_may_not_be_read_is_an_error(tmp_path: Path) -> None:
    readable, other = fill(tmp_path / "1", "a"), fill(tmp_path / "2", "b")
    with pytest.raises(LoaderError) as caught:
        list_session(open_storage([readable]), (readable, other))
    assert caught.value.code is ErrorCode.PERMISSION_DENIED
    assert str(tmp_path) not in caught.value.message


class Meeting(LocalStorage):
    """A storage that lists no folder before all four are asked for."""

    def __init__(self) -> None:
        self.barrier = threading.Barrier(4)

    def list_files(self, location: str) -> list[StoredFile]:
        self.barrier.wait(timeout=10)
        return super().list_files(location)


def test_folders_are_listed_side_by_side(tmp_path: Path) -> None:
    folders = tuple(fill(tmp_path / str(number), f"host-{number}") for number in range(4))
    assert list_session(Meeting(), folders).host_names == ("host-0", "host-1", "host-2", "host-3")
