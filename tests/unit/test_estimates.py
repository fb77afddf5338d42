"""Estimates of memory against what was measured of xprof 2.24.2 (70 MB: 1.29 to 1.82 GB); how they learn."""

from __future__ import annotations

import pytest

from loader.turns.estimates import CHILD_BYTES, Estimates, Reading

MB, GB = 10**6, 10**9


def profile(*sizes: int, tool: str = "overview_page", events: tuple[int, ...] = ()) -> Reading:
    return Reading(tool, "profile", sizes, events)


def test_twenty_to_twenty_eight_times_the_file() -> None:
    estimate = Estimates().of(profile(70 * MB))
    assert (estimate.low, estimate.high) == (1400 * MB, 1960 * MB)


def test_no_child_is_expected_to_need_nothing() -> None:
    assert Estimates().of(profile(1000)).high == CHILD_BYTES


def test_many_small_hosts_are_not_refused_by_their_sum() -> None:
    """16 hosts of 4.8 MB took 0.75 GB: 20 times their bytes would be twice that."""
    estimate = Estimates().of(profile(*[4_800_000] * 16))
    assert estimate.low < 0.75 * GB < estimate.high


def test_hosts_by_the_dozen_are_not_refused_by_their_sum() -> None:
    """64 hosts of 2 MB took 0.59 GB, 4 times their bytes."""
    estimate = Estimates().of(profile(*[1_960_000] * 64))
    assert estimate.low < 0.59 * GB < estimate.high


@pytest.mark.parametrize("tool", ["run_tools", "module_list"])
def test_lists_need_as_much_as_the_largest_host(tool: str) -> None:
    """16 hosts of 70 MB have tools, whatever can be made of them; one host of 8.3 MB took 79 MB."""
    one, many = (
        Estimates().of(profile(*[70 * MB] * hosts, tool=tool, events=(2_000_000,) * hosts))
        for hosts in (1, 16)
    )
    assert one == many
    assert one.high <= 1 * GB
    assert Estimates().of(profile(8_300_000, tool=tool)).low < (79 - 42) * MB * 1.2


def test_events_count_however_small_they_are() -> None:
    """2.5 million events in 5 MB took 1.7 GB."""
    estimate = Estimates().of(profile(5 * MB, events=(2_500_000,)))
    assert estimate.low < 1.7 * GB < estimate.high * 1.05


def test_a_stern_measurement_counts_at_once_and_for_its_tool_only() -> None:
    estimates = Estimates()
    estimates.learn(profile(100 * MB), 4 * GB)
    assert estimates.of(profile(100 * MB)).high >= 4 * GB
    assert estimates.of(profile(100 * MB, tool="hlo_stats")).high == 2800 * MB


def test_a_mild_one_is_believed_by_and_by() -> None:
    estimates = Estimates()
    estimates.learn(profile(100 * MB), 600 * MB)
    assert 2 * GB < estimates.of(profile(100 * MB)).high < 2.8 * GB
    for _ in range(60):
        estimates.learn(profile(100 * MB), 600 * MB)
    settled = estimates.of(profile(100 * MB))
    assert 500 * MB < settled.high < 700 * MB
    # So does the low end, by which is refused.
    assert settled.low == pytest.approx(
        600 * MB - (100 << 20), rel=0.05
    )  # all but what a child has before


def test_one_profile_of_bytes_that_cost_nothing_changes_little() -> None:
    estimates = Estimates()
    estimates.learn(profile(100 * MB), 110 * MB)
    estimate = estimates.of(profile(100 * MB))
    assert estimate.low >= 0.9 * 2000 * MB
    assert estimate.high >= 0.9 * 2800 * MB


def test_what_is_refused_never_grows_beyond_twenty_times() -> None:
    estimates = Estimates()
    for _ in range(100):
        estimates.learn(profile(100 * MB), 5 * GB)
    assert estimates.of(profile(100 * MB)).low == 2 * GB


def test_factors_stay_within_bounds() -> None:
    estimates = Estimates()
    estimates.learn(profile(10 * MB), 100 * GB)
    assert estimates.of(profile(100 * MB)).high == 6 * GB
    for _ in range(200):
        estimates.learn(profile(10 * MB), 0)
    assert estimates.of(profile(100 * MB)).high == pytest.approx(200 * MB)


def test_tiny_profiles_teach_nothing() -> None:
    estimates = Estimates()
    estimates.learn(profile(1000), 200 * MB)
    assert estimates.of(profile(100 * MB)).high == 2800 * MB


def test_a_shared_set_is_cheap_and_never_refused() -> None:
    estimate = Estimates().of(Reading("trace_viewer@", "artifact", (10 * GB,)))
    assert (estimate.low, estimate.high) == (0, 40 * GB)
