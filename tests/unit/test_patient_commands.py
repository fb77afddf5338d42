"""Commands wait for a busy hub as long as it asks them to, and say so on standard error."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.contract.commands import Commands
from tests.services.scripted import Scripted, ScriptedServer, refused

SESSION = {
    "name": "machineLearningRuns/r/profilerSessions/s",
    "storageFolderUri": "gs://b/s",
    "hosts": [{"host": "h", "file": "h.xplane.pb", "sizeBytes": 7}],
}


def busy(seconds: int, ahead: int) -> Scripted:
    """What a hub answers while its worker's line is full."""
    answer = refused(503, "UNAVAILABLE", "Much to do.", reason="busy", ahead=str(ahead))
    return Scripted(503, answer.body, {"Retry-After": str(seconds)})


def test_a_download_goes_on_when_the_hub_can(
    scripted: ScriptedServer,
    waits: list[float],
    tmp_path: Path,
) -> None:
    whole = Scripted(200, b"profile", {"ETag": '"abc"', "X-XProf-Hub-Size": "7"})
    scripted.answers = [busy(2, 5), Scripted(200, SESSION), busy(4, 3), busy(4, 2), whole]
    done = Commands(scripted.url).run("download", "r/s", str(tmp_path))
    assert done.exit_code == 0, done.output
    assert (tmp_path / "h.xplane.pb").read_bytes() == b"profile"
    said = [line.partition(";")[0] for line in done.stderr.splitlines()]
    assert said == [
        "xprof-hub: busy, 5 ahead",
        "xprof-hub: busy, 3 ahead",
        "xprof-hub: busy, 2 ahead",
    ]
    least = [2, 4, 4]
    assert len(waits) == len(least)
    assert all(low <= wait <= low * 1.25 for low, wait in zip(least, waits, strict=True))


def test_a_comparison_waits_as_it_is_told(
    scripted: ScriptedServer,
    waits: list[float],
) -> None:
    scripted.answers = [busy(40, 9), refused(404, "NOT_FOUND", "There is no such session.")]
    done = Commands(scripted.url).run("compare", "r/s", "r/t")
    assert done.exit_code == 3
    assert "xprof-hub: busy, 9 ahead; trying again in " in done.stderr
    assert 40 <= waits[0] <= 50


def test_a_command_does_not_wait_for_ever(
    scripted: ScriptedServer,
    waits: list[float],
) -> None:
    scripted.answers = [busy(60, 9)]
    done = Commands(scripted.url).run("compare", "r/s", "r/t")
    assert done.exit_code == 5
    assert len(waits) == 5  # five minutes
    assert "Much to do." in done.stderr


@pytest.mark.parametrize("date", ["Wed, 21 Oct 2026 07:28:00 GMT", "-5", "1.5", "soon"])
def test_what_is_no_number_of_seconds_counts_as_none(
    scripted: ScriptedServer,
    waits: list[float],
    date: str,
) -> None:
    scripted.answers = [Scripted(503, None, {"Retry-After": date})]
    assert Commands(scripted.url).run("compare", "r/s", "r/t").exit_code == 5
    # As to a hub that names no time: 0.2 and 1 second, give or take a quarter.
    assert [wait <= 1.25 for wait in waits] == [True, True]
