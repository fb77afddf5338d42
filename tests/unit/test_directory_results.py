"""Results in a directory: whole or absent, for a time, within a size."""

from pathlib import Path

import pytest

from loader.caches.results import (
    DirectoryResults,
    ResultHeader,
    ResultStore,
    StoredError,
    TieredResults,
)

KEY = "ab" * 32


def body(folder: Path, content: bytes) -> Path:
    path = folder / "body"
    path.write_bytes(content)
    return path


def put(
    store: ResultStore,
    folder: Path,
    key: str,
    content: bytes,
    ttl: int = 60,
    warnings: tuple[str, ...] = (),
) -> None:
    header = ResultHeader("application/json", len(content), len(content), warnings)
    store.put(key, header, body(folder, content), ttl)


def read(store: ResultStore, key: str) -> bytes | None:
    found = store.open(key)
    return None if found is None else b"".join(found.pieces)


@pytest.fixture
def store(tmp_path: Path) -> DirectoryResults:
    return DirectoryResults(tmp_path / "results", 1 << 20)


def test_what_is_put_is_found_by_another_process_of_the_same_directory(
    store: ResultStore, tmp_path: Path
) -> None:
    put(store, tmp_path, KEY, b"x" * 3_000_00, warnings=("3 of 4 hosts",))
    other = DirectoryResults(tmp_path / "results", 1 << 20)
    found = other.open(KEY)
    assert found is not None
    assert found.header.warnings == ("3 of 4 hosts",)
    assert b"".join(found.pieces) == b"x" * 3_000_00
    assert other.open("cd" * 32) is None


def test_an_error_is_kept_as_an_error(store: ResultStore) -> None:
    error = StoredError("malformed", "ends too early", "vm.xplane.pb")
    store.put(KEY, ResultHeader("application/json", 0, 0, error=error), None, 60)
    found = store.open(KEY)
    assert found is not None and found.header.error == error
    assert found.header.error.as_error().file == "vm.xplane.pb"


def test_a_value_that_cannot_be_read_is_absent(store: ResultStore, tmp_path: Path) -> None:
    (tmp_path / "results" / KEY[:2] / KEY).mkdir(parents=True)
    assert store.open(KEY) is None
    assert not store.contains(KEY)


def test_a_value_ends_with_its_time(tmp_path: Path) -> None:
    now = [1000.0]
    store = DirectoryResults(tmp_path / "results", 1 << 20, clock=lambda: now[0])
    put(store, tmp_path, KEY, b"old", ttl=10)
    now[0] = 1009.9
    assert read(store, KEY) == b"old"
    now[0] = 1010.1
    assert read(store, KEY) is None


@pytest.mark.parametrize("keep", [0, 3, 11, 40, -1])
def test_a_damaged_value_is_absent_and_replaced(
    store: ResultStore, tmp_path: Path, keep: int
) -> None:
    put(store, tmp_path, KEY, b"whole")
    (path,) = (tmp_path / "results").glob("*/*")
    path.write_bytes(path.read_bytes()[:keep])
    assert read(store, KEY) is None
    put(store, tmp_path, KEY, b"whole")
    assert read(store, KEY) == b"whole"


def test_least_recently_used_values_make_room(tmp_path: Path) -> None:
    now = [1000.0]
    store = DirectoryResults(tmp_path / "results", 100_000, clock=lambda: now[0])
    keys = [f"{number:02x}" * 32 for number in range(3)]
    for key in keys:
        now[0] += 1
        put(store, tmp_path, key, b"v" * 29_000, ttl=1000)
        store.open(key)
    now[0] += 1
    assert read(store, keys[0]) is not None  # used last
    now[0] += 1
    put(store, tmp_path, "ff" * 32, b"v" * 29_000, ttl=1000)
    assert [read(store, key) is not None for key in keys] == [True, False, True]
    total = sum(path.stat().st_size for path in (tmp_path / "results").glob("*/*"))
    assert total <= 100_000


def test_a_value_removed_while_it_is_read_stays_whole_for_its_reader(
    store: ResultStore, tmp_path: Path
) -> None:
    put(store, tmp_path, KEY, b"z" * 100_000)
    found = store.open(KEY)
    for path in (tmp_path / "results").glob("*/*"):
        path.unlink()
    assert found is not None and b"".join(found.pieces) == b"z" * 100_000


def test_no_draft_stays_when_the_body_is_missing(store: ResultStore, tmp_path: Path) -> None:
    store.put(KEY, ResultHeader("a/b", 1, 1), tmp_path / "missing", 60)
    assert list((tmp_path / "results").glob("*/.*")) == []
    assert read(store, KEY) is None


def test_tiers_ask_the_near_store_first(tmp_path: Path) -> None:
    near = DirectoryResults(tmp_path / "near", 1 << 20)
    far = DirectoryResults(tmp_path / "far", 1 << 20)
    put(far, tmp_path, KEY, b"far")
    tiers = TieredResults(near, far)
    assert read(tiers, KEY) == b"far"
    put(near, tmp_path, KEY, b"near")
    assert read(tiers, KEY) == b"near"
    put(tiers, tmp_path, "cd" * 32, b"both")
    assert read(near, "cd" * 32) == read(far, "cd" * 32) == b"both"


def test_what_is_forgotten_of_one_session_is_kept_of_others(
    store: DirectoryResults, tmp_path: Path
) -> None:
    mark = "ab" * 8
    ours, theirs = [mark + "0" * 48, mark + "1" * 48], "ab" * 7 + "ac" + "0" * 48
    for key in (*ours, theirs):
        put(store, tmp_path, key, b"answer")
    assert store.forget([mark, "cd" * 8]) == 2
    assert [read(store, key) for key in (*ours, theirs)] == [None, None, b"answer"]
    assert store.forget([mark]) == 0


def kept_of(folder: Path, sizes: dict[str, int]) -> DirectoryResults:
    """A store of answers of so many bytes each, the first one used longest ago."""
    times = iter(range(1000, 2000))
    store = DirectoryResults(folder / "results", 1 << 20, lambda: next(times))
    for key, size in sizes.items():
        put(store, folder, key * 32, b"x" * size, ttl=10_000)
    return store


def test_answers_give_way_the_longest_unused_first(tmp_path: Path) -> None:
    store = kept_of(tmp_path, {"aa": 4000, "bb": 4000, "cc": 4000})
    store.give_way(4001)
    assert [store.contains(key * 32) for key in ("aa", "bb", "cc")] == [False, True, True]


def test_answers_do_not_go_in_vain(tmp_path: Path) -> None:
    store = kept_of(tmp_path, {"aa": 4000, "bb": 4000})
    store.give_way(50_000)
    assert [store.contains(key * 32) for key in ("aa", "bb")] == [True, True]
