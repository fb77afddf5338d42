"""The figures of a session's page: arithmetic by hand."""

from __future__ import annotations

from datetime import UTC, datetime

from server.figures.values import HostFigures, SessionFigures, StepPart, Steps, Utilisation
from server.registry.summaries import FigureState, SessionSummary
from server.session_pages.figures import paces_of, tiles_of
from server.session_pages.page import figures_part


def host(name: str, average: float, *parts: StepPart) -> HostFigures:
    return HostFigures(name, average, average, parts)


def summary(figures: SessionFigures | None, state: FigureState) -> SessionSummary:
    return SessionSummary("d", (), 0, figures, datetime(2026, 11, 30, tzinfo=UTC), state)


def test_the_slowest_host_comes_first_with_its_distance_to_the_median() -> None:
    hosts = (
        host("a", 100.0),
        host("b", 120.0, StepPart("Device compute", 90.0), StepPart("Input", 30.0)),
        host("c", 100.0),
        host("d", 90.0),
    )
    found = paces_of(hosts)
    assert [(one.name, one.average, one.difference, one.width) for one in found] == [
        ("b", "120 ms", "+20.0%", 100.0),
        ("a", "100 ms", "+0.0%", 83.3),
        ("c", "100 ms", "+0.0%", 83.3),
        ("d", "90 ms", "\N{MINUS SIGN}10.0%", 75.0),
    ]
    assert [one.is_straggler for one in found] == [True, False, False, False]
    assert found[0].most == "Device compute 75%"


def test_one_host_waits_for_nobody_and_hosts_without_time_divide_nothing() -> None:
    assert paces_of((host("a", 1.0),)) == ()
    assert [one.difference for one in paces_of((host("a", 0.0), host("b", 0.0)))] == ["+0.0%"] * 2


def test_tiles_say_what_is_known_and_nothing_else() -> None:
    assert tiles_of(SessionFigures()) == ()
    figures = SessionFigures(
        average_step_ms=12.5,
        steps=Steps(40, 12.5, 12.0, 14.0, 11.0, 20.0, 1.0),
        device_type="TPU v5p",
        device_count=16,
        utilisation=Utilisation(duty_cycle=91.26, idle=8.74, matrix_units=45.0),
        peak_memory_bytes=24_000_000_000,
        memory_capacity_bytes=96_000_000_000,
    )
    assert [(tile.label, tile.value, tile.note) for tile in tiles_of(figures)] == [
        ("Step time", "12.5 ms", "40 steps, median 12 ms"),
        ("Duty cycle", "91.3 %", "devices at work"),
        ("Matrix units", "45.0 %", "of their peak"),
        ("Peak memory", "24.0 GB", "25% of 96.0 GB"),
        ("Devices", "16", "TPU v5p"),
    ]


def test_a_page_waits_for_figures_only_while_they_may_come() -> None:
    assert figures_part(None).is_coming
    assert figures_part(summary(None, FigureState())).is_coming
    over = figures_part(summary(None, FigureState("xprof 1", "No worker could read it.", True)))
    assert (over.is_coming, over.problem) == (False, "No worker could read it.")
    ready = figures_part(summary(SessionFigures(step_times_ms=(1.0, 3.0)), FigureState("xprof 1")))
    assert not ready.is_coming
    assert ready.curve is not None
    assert ready.curve.words == "Step time, 1 ms to 3 ms"
