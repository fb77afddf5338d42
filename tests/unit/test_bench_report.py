"""The bench's report: ratios by arithmetic, and targets that are met exactly at their limits."""

from __future__ import annotations

import pytest

from bench.report import Measurement, print_report


def measurements(hub_seconds: float, hub_repeat_cpu: float, hub_runs: int) -> list[Measurement]:
    """XProf takes 10 s cold and 1 CPU second for a repeat; for eight users its trace is incomplete."""
    found = []
    for users in (1, 8):
        for what in ("overview", "trace", "repeat"):
            whole = users == 1 or what == "overview"
            found += [
                Measurement("xprof", users, what, 10.0, 1.0, users, 1.0 if whole else 0.0),
                Measurement(
                    "XProf Hub", users, what, hub_seconds, hub_repeat_cpu, hub_runs * users, 1.0
                ),
            ]
    return found


def report(found: list[Measurement], capsys: pytest.CaptureFixture[str]) -> list[str]:
    print_report(found, "2 hosts", "a machine", markdown=False)
    return capsys.readouterr().out.splitlines()


def test_ratios_follow_from_the_figures(capsys: pytest.CaptureFixture[str]) -> None:
    lines = report(measurements(5.0, 0.02, 0), capsys)
    assert "1      first overview  0.50                  50.0" in lines


def test_incomplete_answers_are_not_compared(capsys: pytest.CaptureFixture[str]) -> None:
    lines = report(measurements(5.0, 0.02, 0), capsys)
    assert "8      first trace     -                     -" in lines


@pytest.mark.parametrize(
    ("seconds", "cpu", "runs", "missed"),
    [(11.0, 0.05, 0, 0), (11.5, 0.05, 0, 2), (11.0, 0.06, 0, 1), (11.0, 0.05, 1, 1)],
)
def test_targets(
    capsys: pytest.CaptureFixture[str], seconds: float, cpu: float, runs: int, missed: int
) -> None:
    lines = report(measurements(seconds, cpu, runs), capsys)
    assert sum(line.endswith("MISSED") for line in lines) == missed
    assert sum(line.endswith("met") for line in lines) == 4 - missed
