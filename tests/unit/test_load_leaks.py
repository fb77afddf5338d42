"""The verdict of a soak: what counts as growing, and what may not be left."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from bench.load_test.leaks import Look, growth_of, slope, verdict
from bench.load_test.watching import folder_megabytes

QUIET = {"front: processes": 1.0, "front: files": 20.0, "rows: leases": 0.0}


def looks(name: str, values: list[float]) -> list[Look]:
    """Looks ten seconds apart."""
    return [Look(10.0 * (n + 1), {name: value}) for n, value in enumerate(values)]


def test_a_slope_is_that_of_most_pairs() -> None:
    line = [(float(x), 3.0 + 0.5 * x) for x in range(20)]
    assert slope(line) == pytest.approx(0.5)
    line[7], line[12] = (7.0, 900.0), (12.0, -900.0)  # peaks
    assert slope(line) == pytest.approx(0.5)
    assert slope([(1.0, 5.0)]) == 0
    assert slope([]) == 0


def test_what_fills_at_first_and_stays_is_no_leak() -> None:
    values = [100 + 5 * min(n, 20) + random.Random(n).uniform(-2, 2) for n in range(60)]
    growth = growth_of("front: MB", looks("front: MB", values))
    assert growth.a_minute == pytest.approx(0, abs=0.3)
    assert not growth.is_leak
    assert growth.most == max(values)


def test_two_megabytes_a_minute_are_a_leak() -> None:
    values = [100 + n / 3 + random.Random(n).uniform(-2, 2) for n in range(60)]
    growth = growth_of("worker-0: MB", looks("worker-0: MB", values))
    assert growth.a_minute == pytest.approx(2, abs=0.3)
    assert growth.is_leak
    (sentence,) = verdict(Look(0, {}), looks("worker-0: MB", values), Look(700, {}), {})
    assert "worker-0: MB grew" in sentence


def test_caches_may_grow() -> None:
    growth = growth_of("artifacts MB", looks("artifacts MB", [10.0 * n for n in range(60)]))
    assert growth.limit is None
    assert not growth.is_leak


def test_a_file_a_minute_is_a_leak() -> None:
    values = [20.0 + n // 6 for n in range(60)]
    assert growth_of("front: files", looks("front: files", values)).is_leak


@pytest.mark.parametrize(("left", "wrong"), [(12.0, 0), (20.0, 0), (34.0, 1)])
def test_threads_that_swing_with_the_load_leak_only_if_they_stay(left: float, wrong: int) -> None:
    name = "worker-0: threads"
    values = [float((15, 25, 10, 30, 20)[n % 5] + n // 6) for n in range(60)]
    values[20] = 8.0  # by chance few when the caches were warm
    found = verdict(Look(0, {name: 6.0}), looks(name, values), Look(700, {name: left}), {})
    assert len(found) == wrong


@pytest.mark.parametrize(
    ("after", "wrong"),
    [
        ({}, ""),
        ({"front: files": 30.0}, ""),
        ({"redis: held MB": 70.0}, ""),
        ({"redis: held MB": 71.0}, "redis: held MB"),
        ({"front: processes": 2.0}, "front: processes"),
        ({"rows: leases": 1.0}, "rows: leases"),
        ({"redis: leases": 1.0}, "redis: leases"),
        ({"workers: job folders": 1.0}, "job folders"),
        ({"redis: keys without end": 2.0}, "keys without end"),
        ({"redis: keys": 500.0}, ""),
    ],
)
def test_what_may_be_left(after: dict[str, float], wrong: str) -> None:
    found = verdict(
        Look(0, QUIET), [Look(10, QUIET)], Look(700, {**QUIET, **after}), {"redis: held MB": 70.4}
    )
    assert len(found) == bool(wrong)
    assert all(wrong in sentence for sentence in found)


def test_what_is_open_only_under_load_is_no_leak() -> None:
    values = [20.0 + n // 3 for n in range(60)]
    seen = looks("front: files", values)
    assert growth_of("front: files", seen).is_leak
    assert verdict(Look(0, {}), seen, Look(700, {"front: files": 18.0}), {}) == []
    assert len(verdict(Look(0, {}), seen, Look(700, {"front: files": 39.0}), {})) == 1


def test_a_folder_that_is_gone_holds_nothing(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "file").write_bytes(b"x" * 500_000)
    (tmp_path / "file").write_bytes(b"x" * 500_000)
    assert folder_megabytes(tmp_path) == 1
    assert folder_megabytes(tmp_path / "gone") == 0
