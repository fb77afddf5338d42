"""Directories: what is listed, and that exactly the listed state is copied."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from loader.errors import ErrorCode, LoaderError
from loader.storage.local import LocalStorage

NOBODY = 65534


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A session folder with two hosts, given in the wrong order."""
    path = tmp_path / "session"
    path.mkdir()
    for host in ("b", "a"):
        (path / f"{host}.xplane.pb").write_bytes(host.encode() * 3)
    return path


def code_of(action: object, *arguments: object) -> ErrorCode:
    assert callable(action)
    with pytest.raises(LoaderError) as caught:
        action(*arguments)
    return caught.value.code


def test_files_are_listed_by_name_with_size_and_place(folder: Path) -> None:
    files = LocalStorage().list_files(str(folder))
    assert [(f.name, f.size, f.location) for f in files] == [
        ("a.xplane.pb", 3, f"{folder}/a.xplane.pb"),
        ("b.xplane.pb", 3, f"{folder}/b.xplane.pb"),
    ]
    assert LocalStorage().list_files(f"{folder}/") == files


def test_a_file_is_listed_as_itself(folder: Path) -> None:
    location = str(folder / "a.xplane.pb")
    assert [f.location for f in LocalStorage().list_files(location)] == [location]


def test_only_regular_files_with_text_names_are_listed(folder: Path) -> None:
    os.mkfifo(folder / "fifo.xplane.pb")
    (folder / "folder.xplane.pb").mkdir()
    (folder / "broken.xplane.pb").symlink_to("nowhere")
    Path(os.fsdecode(os.fsencode(folder) + b"/\xff.xplane.pb")).write_bytes(b"x")
    assert [f.name for f in LocalStorage().list_files(str(folder))] == [
        "a.xplane.pb",
        "b.xplane.pb",
    ]


@pytest.fixture
def readable_only() -> Iterator[None]:
    """Runs a test as a user who may not read everything, as root may."""
    own = os.geteuid()
    if own == 0:
        os.seteuid(NOBODY)
    yield
    os.seteuid(own)


def links_that_lead_nowhere(folder: Path, hidden: Path) -> None:
    """Makes a link of every kind that can't be followed."""
    targets = {"gone": "nowhere", "self": "self", "below": "a.xplane.pb/x", "long": "x" * 300}
    targets |= {"circle": "elcric", "elcric": "circle", "hidden": str(hidden)}
    for name, target in targets.items():
        (folder / f"{name}.xplane.pb").symlink_to(target)
        (folder / name).symlink_to(target)


def test_links_that_can_not_be_followed_hide_nothing(
    folder: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "inner").mkdir()
    links_that_lead_nowhere(folder, vault / "inner")
    (folder / "real").mkdir()
    (folder / "link").symlink_to("real")
    for parent in (folder, *list(folder.parents)[:3]):
        parent.chmod(0o755)
    vault.chmod(0)
    request.getfixturevalue("readable_only")
    assert [f.name for f in LocalStorage().list_files(str(folder))] == [
        "a.xplane.pb",
        "b.xplane.pb",
    ]
    assert LocalStorage().list_folders(str(folder)) == [f"{folder}/link", f"{folder}/real"]


def test_a_folder_whose_entries_may_not_be_read_is_not_taken_for_empty(
    folder: Path, request: pytest.FixtureRequest
) -> None:
    for parent in list(folder.parents)[:3]:
        parent.chmod(0o755)
    (folder / "link.xplane.pb").symlink_to("a.xplane.pb")
    folder.chmod(0o744)
    request.getfixturevalue("readable_only")
    assert code_of(LocalStorage().list_files, str(folder)) is ErrorCode.PERMISSION_DENIED


def test_names_are_not_decoded_or_normalised(folder: Path) -> None:
    names = ["a b+c%20#?,.xplane.pb", "u\u0308.xplane.pb", "\u00fc.xplane.pb"]
    for name in names:
        (folder / name).write_bytes(b"x")
    assert set(names) <= {f.name for f in LocalStorage().list_files(str(folder))}


def test_folders_are_listed_sorted(folder: Path) -> None:
    for name in ("2", "1"):
        (folder / name).mkdir()
    assert LocalStorage().list_folders(str(folder)) == [f"{folder}/1", f"{folder}/2"]


def test_parts_are_those_of_the_listed_file(folder: Path) -> None:
    path = folder / "a.xplane.pb"
    path.write_bytes(b"0123456789")
    storage = LocalStorage()
    (file,) = storage.list_files(str(path))
    assert storage.read_part(file, 0, 10) == b"0123456789"
    assert storage.read_part(file, 3, 2) == b"34"
    assert code_of(storage.read_part, file, 8, 3) is ErrorCode.SOURCE_CHANGED
    path.write_bytes(b"9876543210")
    assert code_of(storage.read_part, file, 0, 1) is ErrorCode.SOURCE_CHANGED
    path.unlink()
    assert code_of(storage.read_part, file, 0, 1) is ErrorCode.SOURCE_CHANGED
    path.symlink_to("b.xplane.pb")
    assert code_of(storage.read_part, file, 0, 1) is ErrorCode.SOURCE_CHANGED


def test_download_copies_the_bytes(folder: Path, tmp_path: Path) -> None:
    content = os.urandom(5_000_000)
    (folder / "a.xplane.pb").write_bytes(content)
    file = LocalStorage().list_files(str(folder))[0]
    LocalStorage().download(file, tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == content


def test_download_replaces_what_was_in_the_destination(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "copy").write_bytes(b"something longer than the file")
    LocalStorage().download(LocalStorage().list_files(str(folder))[0], tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == b"aaa"


def test_a_file_written_in_place_is_another_generation(folder: Path, tmp_path: Path) -> None:
    storage = LocalStorage()
    file = storage.list_files(str(folder))[0]
    path = Path(file.location)
    path.write_bytes(b"AAA")
    os.utime(path, ns=(1, 1))
    assert storage.list_files(str(folder))[0].generation != file.generation
    assert code_of(storage.download, file, tmp_path / "copy") is ErrorCode.SOURCE_CHANGED


def test_a_file_written_in_place_whose_time_was_set_back_is_another_generation(
    folder: Path, tmp_path: Path
) -> None:
    """As `cp -p` of another capture does."""
    storage, path = LocalStorage(), folder / "a.xplane.pb"
    file = storage.list_files(str(folder))[0]
    before = path.stat()
    time.sleep(0.02)  # the kernel's clock of changes has steps of some ms
    with path.open("r+b") as stream:
        stream.write(b"AAA")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = path.stat()
    assert (after.st_ino, after.st_size, after.st_mtime_ns) == (
        before.st_ino,
        before.st_size,
        before.st_mtime_ns,
    )
    assert storage.list_files(str(folder))[0].generation != file.generation
    assert code_of(storage.download, file, tmp_path / "copy") is ErrorCode.SOURCE_CHANGED


def test_a_file_replaced_with_the_same_size_and_time_is_another_generation(
    folder: Path, tmp_path: Path
) -> None:
    storage = LocalStorage()
    file = storage.list_files(str(folder))[0]
    path, other = Path(file.location), folder / "new"
    status = path.stat()
    other.write_bytes(b"AAA")
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
    other.rename(path)
    assert code_of(storage.download, file, tmp_path / "copy") is ErrorCode.SOURCE_CHANGED


def test_a_removed_file_has_changed(folder: Path, tmp_path: Path) -> None:
    file = LocalStorage().list_files(str(folder))[0]
    Path(file.location).unlink()
    assert code_of(LocalStorage().download, file, tmp_path / "copy") is ErrorCode.SOURCE_CHANGED


@pytest.mark.parametrize("kind", ["symlink", "fifo", "folder"])
def test_download_opens_nothing_but_a_regular_file(folder: Path, tmp_path: Path, kind: str) -> None:
    file = LocalStorage().list_files(str(folder))[0]
    path = Path(file.location)
    path.rename(folder / "moved")
    if kind == "symlink":
        path.symlink_to(folder / "moved")
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        path.mkdir()
    assert code_of(LocalStorage().download, file, tmp_path / "copy") is ErrorCode.SOURCE_CHANGED


def test_a_missing_folder_is_not_found(tmp_path: Path) -> None:
    location = str(tmp_path / "missing")
    assert code_of(LocalStorage().list_files, location) is ErrorCode.NOT_FOUND
    assert code_of(LocalStorage().list_folders, location) is ErrorCode.NOT_FOUND


def test_a_forbidden_folder_is_permission_denied(folder: Path) -> None:
    own = os.geteuid()
    folder.chmod(0)
    try:
        if own == 0:
            os.seteuid(NOBODY)  # root may read everything
        assert code_of(LocalStorage().list_files, str(folder)) is ErrorCode.PERMISSION_DENIED
    finally:
        os.seteuid(own)
        folder.chmod(0o700)


def test_a_destination_that_cannot_be_written_is_not_the_sources_fault(
    folder: Path, tmp_path: Path
) -> None:
    file = LocalStorage().list_files(str(folder))[0]
    with pytest.raises(FileNotFoundError):
        LocalStorage().download(file, tmp_path / "missing" / "copy")


def test_a_made_up_generation_is_not_read(folder: Path, tmp_path: Path) -> None:
    file = replace(LocalStorage().list_files(str(folder))[0], generation="1-2-3")
    assert code_of(LocalStorage().download, file, tmp_path / "copy") is ErrorCode.SOURCE_CHANGED


def test_a_listed_file_says_when_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "host.xplane.pb"
    path.write_bytes(b"x")
    os.utime(path, (1_700_000_000, 1_700_000_123))
    (file,) = LocalStorage().list_files(str(tmp_path))
    assert file.modified == 1_700_000_123
