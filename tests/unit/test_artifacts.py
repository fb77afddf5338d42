"""Artifact sets: whole or absent, the first one stays, and never a file outside its set."""

import errno
import json
import os
import shutil
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from loader.caches.artifacts import MANIFEST, DirectoryArtifacts, Manifest
from loader.errors import ErrorCode, LoaderError

KEY, OTHER = "0a" * 32, "0b" * 32
HOSTS = ["a"]


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    folder = tmp_path / "made"
    folder.mkdir()
    made = [folder / "a.SSTABLE", folder / "a.metadata.SSTABLE"]
    for index, path in enumerate(made):
        path.write_bytes(bytes([index]) * 1000)
    return made


@pytest.fixture
def store(tmp_path: Path) -> DirectoryArtifacts:
    return DirectoryArtifacts(tmp_path / "artifacts", 1 << 20)


def fetch(
    store: DirectoryArtifacts, tmp_path: Path, key: str = KEY
) -> tuple[Manifest | None, list[str]]:
    target = tmp_path / "job"
    target.mkdir(exist_ok=True)
    manifest = store.fetch(key, target)
    return manifest, sorted(path.name for path in target.iterdir())


def test_a_set_comes_back_with_its_hosts_and_warnings(
    store: DirectoryArtifacts, files: list[Path], tmp_path: Path
) -> None:
    store.publish(KEY, files, ["a", "ü"], ["2 of 3 hosts"])
    manifest, names = fetch(store, tmp_path)
    sizes = (("a.SSTABLE", 1000), ("a.metadata.SSTABLE", 1000))
    assert manifest == Manifest(sizes, ("a", "ü"), ("2 of 3 hosts",))
    assert names == ["a.SSTABLE", "a.metadata.SSTABLE"]
    assert (tmp_path / "job" / "a.SSTABLE").read_bytes() == bytes(1000)
    assert fetch(store, tmp_path, OTHER)[0] is None


def test_only_the_wanted_files_are_placed(
    store: DirectoryArtifacts, files: list[Path], tmp_path: Path
) -> None:
    store.publish(KEY, files, HOSTS, [])
    target = tmp_path / "job"
    target.mkdir()
    manifest = store.fetch(KEY, target, lambda name: name == "a.SSTABLE")
    assert manifest is not None
    assert len(manifest.files) == 2  # it still says what else there is
    assert [path.name for path in target.iterdir()] == ["a.SSTABLE"]


def test_the_first_set_stays(store: DirectoryArtifacts, files: list[Path], tmp_path: Path) -> None:
    store.publish(KEY, files, HOSTS, [])
    files[0].write_bytes(b"later")
    store.publish(KEY, files, HOSTS, ["later"])
    manifest, _ = fetch(store, tmp_path)
    assert manifest is not None and manifest.warnings == ()
    assert (tmp_path / "job" / "a.SSTABLE").read_bytes() == bytes(1000)


@pytest.mark.parametrize("damage", ["cut", "missing", "no manifest", "bad manifest"])
def test_a_damaged_set_is_absent_and_can_be_made_again(
    store: DirectoryArtifacts, files: list[Path], tmp_path: Path, damage: str
) -> None:
    store.publish(KEY, files, HOSTS, [])
    folder = tmp_path / "artifacts" / KEY
    folder.joinpath("a.SSTABLE").chmod(0o644)
    if damage == "cut":
        folder.joinpath("a.SSTABLE").write_bytes(b"")
    elif damage == "missing":
        folder.joinpath("a.metadata.SSTABLE").unlink()
    elif damage == "no manifest":
        folder.joinpath(MANIFEST).unlink()
    else:
        folder.joinpath(MANIFEST).write_text("[]")
    assert not store.contains(KEY)
    assert fetch(store, tmp_path) == (None, [])
    store.publish(KEY, files, HOSTS, [])
    assert fetch(store, tmp_path)[0] is not None


@pytest.mark.parametrize("name", ["../x", "a/b", "", "..", MANIFEST])
def test_a_manifest_may_not_name_files_elsewhere(name: str) -> None:
    with pytest.raises(ValueError, match="outside"):
        Manifest.from_json(json.dumps({"files": [[name, 1]], "hosts": ["a"], "warnings": []}))


@pytest.mark.parametrize("hosts", [None, [], "a", ["a", 1], ["../a"], ["a\0"], {"a": 1}])
def test_a_manifest_must_name_its_hosts(hosts: object) -> None:
    with pytest.raises(ValueError, match="manifest"):
        Manifest.from_json(json.dumps({"files": [["a", 1]], "hosts": hosts, "warnings": []}))


def test_a_set_of_an_older_version_without_hosts_is_absent_and_replaced(
    store: DirectoryArtifacts, files: list[Path], tmp_path: Path
) -> None:
    store.publish(KEY, files, HOSTS, [])
    manifest = tmp_path / "artifacts" / KEY / MANIFEST
    old = json.loads(manifest.read_text())
    del old["hosts"]
    manifest.write_text(json.dumps(old))
    assert not store.contains(KEY)
    store.publish(KEY, files, HOSTS, [])
    assert store.contains(KEY)


def test_a_discarded_set_is_gone_and_the_next_one_stays(
    store: DirectoryArtifacts, files: list[Path], tmp_path: Path
) -> None:
    store.discard(KEY)
    store.publish(KEY, files, HOSTS, [])
    store.discard(KEY)
    assert not store.contains(KEY)
    assert list((tmp_path / "artifacts").iterdir()) == []
    store.publish(KEY, files, HOSTS, ["new"])
    manifest, _ = fetch(store, tmp_path)
    assert manifest is not None and manifest.warnings == ("new",)


def test_a_set_that_cannot_be_kept_is_logged_and_leaves_nothing(
    store: DirectoryArtifacts,
    files: list[Path],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    store.publish(KEY, [*files, folder], HOSTS, [])  # a folder can't be copied as a file
    assert list((tmp_path / "artifacts").iterdir()) == []
    shutil.rmtree(tmp_path / "artifacts")
    store.publish(KEY, files, HOSTS, [])
    assert [record.levelname for record in caplog.records] == ["WARNING", "WARNING"]
    assert not store.contains(KEY)


def test_an_unreadable_place_counts_as_a_miss(
    store: DirectoryArtifacts, files: list[Path], tmp_path: Path
) -> None:
    (tmp_path / "artifacts" / KEY).write_bytes(b"not a folder")
    assert not store.contains(KEY)
    assert fetch(store, tmp_path) == (None, [])
    store.publish(KEY, files, HOSTS, [])
    assert not store.contains(KEY)
    store.discard(KEY)
    store.publish(KEY, files, HOSTS, [])
    assert store.contains(KEY)


def test_publishers_at_once_never_remove_a_whole_set(tmp_path: Path, files: list[Path]) -> None:
    stores = [DirectoryArtifacts(tmp_path / "artifacts", 1 << 20) for _ in range(4)]
    for turn in range(20):
        key, together = f"{turn:064x}", threading.Barrier(len(stores))
        stores[0].publish(key, files, HOSTS, [])
        (tmp_path / "artifacts" / key / MANIFEST).write_text("damaged")

        def publish(
            store: DirectoryArtifacts, key: str = key, together: threading.Barrier = together
        ) -> bool:
            together.wait()
            store.publish(key, files, HOSTS, [])
            return True

        with ThreadPoolExecutor(len(stores)) as pool:
            assert all(pool.map(publish, stores))
        assert stores[0].contains(key)
    assert list((tmp_path / "artifacts").glob(".*")) == []


def test_files_of_two_sets_never_mix(store: DirectoryArtifacts, tmp_path: Path) -> None:
    folder = tmp_path / "artifacts"
    for key, content in ((KEY, b"1"), (OTHER, b"2")):
        made = [tmp_path / f"{number}.SSTABLE" for number in range(20)]
        for path in made:
            path.write_bytes(content)
        store.publish(key, made, HOSTS, [])
    ended = threading.Event()

    def swap() -> None:
        """As by workers that find the set damaged and have another one ready."""
        for _ in range(3000):
            (folder / KEY).rename(folder / "aside")
            (folder / OTHER).rename(folder / KEY)
            (folder / "aside").rename(folder / OTHER)
        ended.set()

    def read() -> None:
        while not ended.is_set():
            job = tmp_path / "job"
            job.mkdir()
            whole = store.fetch(KEY, job) is not None
            contents = [path.read_bytes() for path in job.iterdir()]
            shutil.rmtree(job)
            assert len(contents) == (20 if whole else 0)
            assert len(set(contents)) == (1 if whole else 0)

    with ThreadPoolExecutor(2) as pool:
        for task in [pool.submit(swap), pool.submit(read)]:
            task.result()
    assert fetch(store, tmp_path)[0] is not None


def test_drafts_of_killed_processes_go_at_the_next_start_and_young_ones_stay(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "artifacts"
    old, young = folder / ".old.draft", folder / ".young.draft"
    for draft in (old, young):
        draft.mkdir(parents=True)
        (draft / "a.SSTABLE").write_bytes(b"half")
    two_hours_ago = time.time() - 7200
    os.utime(old, (two_hours_ago, two_hours_ago))
    DirectoryArtifacts(folder, 1 << 20)
    assert list(folder.iterdir()) == [young]


def test_drafts_of_killed_processes_make_room_for_sets(tmp_path: Path, files: list[Path]) -> None:
    store = DirectoryArtifacts(tmp_path / "artifacts", 10_000)
    draft = tmp_path / "artifacts" / ".0123.draft"
    draft.mkdir()
    (draft / "half").write_bytes(bytes(9_000))
    os.utime(draft, (time.time() - 7200,) * 2)
    store.publish(KEY, files, HOSTS, [])
    assert store.contains(KEY)
    assert not draft.exists()


def test_a_full_disk_of_the_worker_says_nothing_of_a_set(
    store: DirectoryArtifacts, files: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is an error at once: who took it for a damaged set would discard a good one."""
    store.publish(KEY, files, HOSTS, [])

    def full(source: Path, target: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(target))

    monkeypatch.setattr("loader.caches.artifacts.place", full)
    with pytest.raises(LoaderError) as caught:
        fetch(store, tmp_path)
    assert (caught.value.code, caught.value.retry_after) == (ErrorCode.WORKER_FULL, 30)
    assert caught.value.message.startswith("The scratch disk is full")
    assert store.contains(KEY)


def test_old_sets_make_room_but_never_the_newest(tmp_path: Path, files: list[Path]) -> None:
    store = DirectoryArtifacts(tmp_path / "small", 3000)
    store.publish(KEY, files, HOSTS, [])
    store.publish(OTHER, files, HOSTS, [])
    assert (store.contains(KEY), store.contains(OTHER)) == (False, True)


def test_a_set_that_can_never_fit_is_not_kept_and_costs_no_other(
    tmp_path: Path, files: list[Path]
) -> None:
    store = DirectoryArtifacts(tmp_path / "small", 3000)
    store.publish(KEY, files, HOSTS, [])
    files[0].write_bytes(bytes(2500))
    store.publish(OTHER, files, HOSTS, [])
    assert (store.contains(KEY), store.contains(OTHER)) == (True, False)


def test_sets_of_a_session_are_forgotten_and_others_stay(
    store: DirectoryArtifacts, files: list[Path], tmp_path: Path
) -> None:
    mine = ["ab" * 8 + "0" * 48, "ab" * 8 + "1" * 48]
    for key in (*mine, OTHER):
        store.publish(key, files, HOSTS, [])
    assert store.forget(["ab" * 8]) == 2
    assert [store.contains(key) for key in (*mine, OTHER)] == [False, False, True]
    assert store.forget(["ab" * 8]) == 0
    assert [path.name for path in (tmp_path / "artifacts").iterdir()] == [OTHER]
