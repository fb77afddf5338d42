"""Artifact sets: whole or absent, the first one stays, and never a file outside its set."""

import json
from pathlib import Path

import pytest

from loader.artifacts import MANIFEST, DirectoryArtifacts, Manifest

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


def test_a_set_comes_back_with_its_warnings(
    store: DirectoryArtifacts, files: list[Path], tmp_path: Path
) -> None:
    store.publish(KEY, files, HOSTS, ["3 of 4 hosts"])
    manifest, names = fetch(store, tmp_path)
    assert manifest is not None and manifest.warnings == ("3 of 4 hosts",)
    assert names == ["a.SSTABLE", "a.metadata.SSTABLE"]
    assert (tmp_path / "job" / "a.SSTABLE").read_bytes() == bytes(1000)
    assert fetch(store, tmp_path, OTHER)[0] is None


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


def test_old_sets_make_room_but_never_the_newest(tmp_path: Path, files: list[Path]) -> None:
    store = DirectoryArtifacts(tmp_path / "small", 3000)
    store.publish(KEY, files, HOSTS, [])
    store.publish(OTHER, files, HOSTS, [])
    assert (store.contains(KEY), store.contains(OTHER)) == (False, True)
