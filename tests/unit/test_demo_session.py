"""The demo's session: the same bytes for the same arguments, and what its files must hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from server.demo import schema
from server.demo.session import write_session


def contents(paths: list[Path]) -> list[bytes]:
    return [path.read_bytes() for path in paths]


def test_same_arguments_give_the_same_bytes(tmp_path: Path) -> None:
    first = write_session(tmp_path / "first", hosts=2, events=3000, seed=7)
    second = write_session(tmp_path / "second", hosts=2, events=3000, seed=7)
    assert contents(first) == contents(second)


def test_another_seed_gives_other_timings(tmp_path: Path) -> None:
    first = write_session(tmp_path / "first", hosts=1, events=3000, seed=1)
    second = write_session(tmp_path / "second", hosts=1, events=3000, seed=2)
    assert contents(first) != contents(second)


def test_one_file_per_host_named_after_it(tmp_path: Path) -> None:
    names = ["worker 0", "rank+1%2F", "ALL_HOSTS", "日本語,:@#?&"]
    paths = write_session(tmp_path / "s", events=3000, host_names=names)
    assert [path.name for path in paths] == [f"{name}.xplane.pb" for name in names]
    for path, name in zip(paths, names, strict=True):
        assert list(schema.parse_space(path.read_bytes()).hostnames) == [name]


@pytest.mark.parametrize("names", [[], [""], ["a/b"], ["same", "same"]])
def test_names_that_can_not_be_files_are_refused(tmp_path: Path, names: list[str]) -> None:
    with pytest.raises(ValueError, match="host"):
        write_session(tmp_path / "s", events=3000, host_names=names)
    assert not (tmp_path / "s").exists()


def test_event_count_is_near_the_one_asked_for(tmp_path: Path) -> None:
    (path,) = write_session(tmp_path / "s", hosts=1, events=20_000)
    space = schema.parse_space(path.read_bytes())
    events = sum(len(line.events) for plane in space.planes for line in plane.lines)
    assert events == pytest.approx(20_000, rel=0.05)


def test_operations_of_a_core_follow_each_other_without_overlap(tmp_path: Path) -> None:
    (path,) = write_session(tmp_path / "s", hosts=1, events=3000)
    space = schema.parse_space(path.read_bytes())
    for plane in space.planes:
        for line in plane.lines:
            if line.name not in ("Steps", "XLA Modules"):
                continue
            ends = [event.offset_ps + event.duration_ps for event in line.events]
            begins = [event.offset_ps for event in line.events]
            assert all(end <= begin for end, begin in zip(ends, begins[1:], strict=False))
