"""What an upload's folder says: which parts have come, what became of it, and when it is given up."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from loader.storage.base import StoredFile
from loader.storage.local import LocalStorage
from loader.storage.writing import AlreadyThereError, open_writer
from server.uploads.cleaning import ABANDONED_SECONDS, clean
from server.uploads.store import UploadStore, etag_of_file, upload_key

KEY = "k"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "uploads"


@pytest.fixture
def store(root: Path) -> UploadStore:
    writer = open_writer(str(root))
    return UploadStore(writer.root, LocalStorage(), writer)


def put_part(store: UploadStore, first: int, content: bytes) -> None:
    draft = store.begin_part(KEY, first, len(content))
    draft.write(content)
    draft.finish()


@pytest.mark.parametrize(
    ("parts", "received", "count"),
    [
        ([], 0, 0),
        ([(0, b"ab")], 2, 1),
        ([(2, b"cd"), (0, b"ab")], 4, 2),
        ([(0, b"ab"), (3, b"d")], 2, 1),
        ([(1, b"b")], 0, 0),
        # The same bytes in parts of other sizes, as by two clients: the longest way wins.
        ([(0, b"ab"), (0, b"abcd"), (2, b"cd"), (4, b"e")], 5, 2),
    ],
)
def test_what_follows_from_the_first_byte_on_has_been_received(
    store: UploadStore, parts: list[tuple[int, bytes]], received: int, count: int
) -> None:
    for first, content in parts:
        put_part(store, first, content)
    progress = store.progress(KEY)
    assert (progress.received, len(progress.parts)) == (received, count)


def test_a_part_of_another_size_than_its_name_says_does_not_count(
    store: UploadStore, root: Path
) -> None:
    put_part(store, 0, b"ab")
    (part,) = (root / ".uploads" / KEY).iterdir()
    part.write_bytes(b"a")
    assert store.progress(KEY).received == 0


def test_drafts_and_other_files_are_no_parts(store: UploadStore, root: Path) -> None:
    put_part(store, 0, b"ab")
    open_draft = store.begin_part(KEY, 2, 2)
    open_draft.write(b"cd")
    (root / ".uploads" / KEY / "0-2.txt").write_bytes(b"ab")
    assert store.progress(KEY).received == 2
    open_draft.discard()


def test_the_end_of_an_upload_is_noted_for_exactly_its_file(store: UploadStore) -> None:
    draft = store.begin_whole()
    draft.write(b"x")
    file = store.publish(draft.finish(), store.new_folder("s"), "h", None)
    assert not store.became(KEY, file)
    store.mark(KEY, file)
    store.mark(KEY, file)
    assert store.became(KEY, file)
    assert not store.became("other", file)
    assert store.find(file.location.rpartition("/")[0], "h") == file
    put_part(store, 0, b"x")
    store.clear(KEY)
    assert store.became(KEY, file)
    assert store.progress(KEY).received == 0


def test_every_folder_is_new_and_ends_with_the_sessions_id(store: UploadStore) -> None:
    folders = {store.new_folder("2026 ü") for _ in range(100)}
    assert len(folders) == 100
    assert {folder.rpartition("/")[2] for folder in folders} == {"2026 ü"}


def test_the_key_tells_sessions_hosts_and_contents_apart() -> None:
    keys = {
        upload_key(session, host, digest)
        for session in ("a", "ab")
        for host in ("b", "bb")
        for digest in (b"1", b"2")
    }
    assert len(keys) == 8
    assert upload_key("a", "bb", b"1") != upload_key("ab", "b", b"1")


def test_an_upload_is_given_up_after_a_day_without_a_new_part(
    store: UploadStore, root: Path
) -> None:
    put_part(store, 0, b"ab")
    put_part(store, 2, b"cd")
    draft = store.begin_whole()
    draft.write(b"x")
    kept = store.publish(draft.finish(), store.new_folder("s"), "h", None)
    folder = root / ".uploads" / KEY
    now = 2_000_000_000.0
    for path, age in [(part, ABANDONED_SECONDS + 1) for part in folder.iterdir()]:
        os.utime(path, (now - age, now - age))
    os.utime(folder, (now - ABANDONED_SECONDS - 1,) * 2)
    newest = folder / f"{2:018}-2"
    os.utime(newest, (now - ABANDONED_SECONDS + 60,) * 2)
    os.utime(kept.location, (0, 0))
    assert clean(store, now) == 0
    os.utime(newest, (now - ABANDONED_SECONDS - 1,) * 2)
    assert clean(store, now) == 2
    assert not folder.exists()
    assert Path(kept.location).exists()


def test_an_etag_names_one_state_of_a_file(store: UploadStore, root: Path) -> None:
    draft = store.begin_whole()
    draft.write(b"x")
    file = store.publish(draft.finish(), str(root / "made" / "s"), "h", None)
    assert etag_of_file(file) == etag_of_file(file)
    assert str(root) not in etag_of_file(file)
    draft = store.begin_whole()
    draft.write(b"y")
    other = store.publish(draft.finish(), str(root / "made" / "s"), "h", file)
    assert etag_of_file(other) != etag_of_file(file)


def test_a_file_is_read_once_however_often_its_digest_is_asked_for(
    store: UploadStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_part(store, 0, b"ab")
    (part,) = store.progress(KEY).parts
    assert store.digest(part) == hashlib.sha256(b"ab").digest()
    monkeypatch.setattr(Path, "open", lambda *_: pytest.fail("read again"))
    assert store.digest(part) == hashlib.sha256(b"ab").digest()


def test_parts_are_put_together_again_when_the_answer_to_that_was_lost(
    store: UploadStore, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bucket then says of a request that was sent again that its own object is in the way."""
    for first, content in ((0, b"ab"), (2, b"cd")):
        put_part(store, first, content)
    names: list[str] = []
    writer = open_writer(str(root))
    join = writer.join

    def lose_the_first(parts: Sequence[StoredFile], location: str) -> StoredFile:
        names.append(location)
        joined = join(parts, location)
        if len(names) == 1:
            raise AlreadyThereError
        return joined

    monkeypatch.setattr(writer, "join", lose_the_first)
    again = UploadStore(writer.root, LocalStorage(), writer)
    joined = again.join(KEY, again.progress(KEY))
    assert again.digest(joined) == hashlib.sha256(b"abcd").digest()
    assert len(set(names)) == 2
