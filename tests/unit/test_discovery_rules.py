"""The arithmetic of discovery: when to look again, and where a file's run and session are."""

from __future__ import annotations

from datetime import timedelta

import pytest

from server.discovery.finding import place_of_profile
from server.discovery.schedule import Pace, after_failures
from server.registry.records import RunState

MINUTE = timedelta(minutes=1)
PACE = Pace(MINUTE)


def test_active_runs_are_looked_at_from_each_minute_to_every_ten() -> None:
    times = [PACE.run(RunState.ACTIVE, unchanged) for unchanged in range(6)]
    assert times == [MINUTE * count for count in (1, 2, 4, 8, 10, 10)]


@pytest.mark.parametrize("state", [RunState.COMPLETED, RunState.FAILED, RunState.LOST])
def test_ended_runs_are_looked_at_from_each_hour_to_each_day(state: RunState) -> None:
    times = [PACE.run(state, unchanged) for unchanged in (0, 1, 4, 5, 10**9)]
    assert times == [timedelta(hours=count) for count in (1, 2, 16, 24, 24)]


def test_a_slow_pace_is_never_hastened() -> None:
    assert Pace(timedelta(hours=1)).run(RunState.ACTIVE, 5) == timedelta(hours=1)


def test_failures_are_tried_again_after_half_a_minute_to_an_hour() -> None:
    times = [after_failures(count).total_seconds() for count in (1, 2, 3, 8, 100)]
    assert times == [30, 60, 120, 3600, 3600]


def test_a_session_with_files_is_looked_at_twice_a_minute() -> None:
    assert PACE.session(False, 100) == timedelta(seconds=30)
    assert PACE.session(True, 100) == timedelta(hours=1)


@pytest.mark.parametrize(
    ("location", "run", "session"),
    [
        ("gs://b/t/r/plugins/profile/s/h.xplane.pb", "gs://b/t/r", "plugins/profile/s"),
        ("gs://b/r/plugins/profile/s/h.xplane.pb", "gs://b/r", "plugins/profile/s"),
        (
            "gs://b/r/tensorboard/plugins/profile/s/h.xplane.pb",
            "gs://b/r",
            "tensorboard/plugins/profile/s",
        ),
        (
            "gs://b/r/plugins/profile/plugins/profile/s/h.xplane.pb",
            "gs://b/r",
            "plugins/profile/plugins/profile/s",
        ),
        ("/data/r/plugins/profile/s/h.xplane.pb", "/data/r", "plugins/profile/s"),
    ],
)
def test_a_profiles_address_says_run_and_session(location: str, run: str, session: str) -> None:
    place = place_of_profile(location)
    assert place is not None
    assert (place.run_folder, place.session_folder) == (run, f"{run}/{session}")


@pytest.mark.parametrize(
    "location",
    [
        "gs://b/r/plugins/profile/s/h.trace.json.gz",
        "gs://b/r/plugins/profile/s/.xplane.pb",
        "gs://b/r/plugins/profile/h.xplane.pb",
        "gs://b/r/checkpoints/s/h.xplane.pb",
        "gs://b/r/plugins/profile/s/deeper/h.xplane.pb",
        "gs://b/plugins/profile/s/h.xplane.pb",
        "h.xplane.pb",
        "",
    ],
)
def test_other_addresses_say_nothing(location: str) -> None:
    assert place_of_profile(location) is None
