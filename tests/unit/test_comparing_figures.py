"""Two sessions' figures side by side: every number by arithmetic."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from server.comparing.configs import compare_configs
from server.comparing.figures import compare
from server.comparing.values import Basis, Change, OpStanding
from server.figures.step_reading import steps_of
from server.figures.values import OpTime, SessionFigures, Utilisation
from server.registry.records import Json


def session(
    *times: float, ops: dict[str, float] | None = None, cores: int = 1, **more: Any
) -> SessionFigures:
    """Figures with these step times, and operations with these times."""
    steps = steps_of(times)
    total = sum((ops or {}).values())
    found = [OpTime(name, "fusion", time, time / total, 1) for name, time in (ops or {}).items()]
    usual = SessionFigures(
        step_times_ms=times,
        average_step_ms=steps.average if steps else None,
        steps=steps,
        device_type="TPU v5p",
        device_count=cores,
        host_count=1,
        top_ops=tuple(sorted(found, key=lambda op: -op.self_time_us)),
        op_count=len(found),
        ops_time_us=total,
    )
    return replace(usual, **more)


def test_steps_are_compared_with_the_left_ones() -> None:
    steps = compare(session(1.0, 3.0), session(2.0, 3.0, 4.0)).steps
    assert steps.average == Change(2.0, 3.0)
    assert (steps.average.difference, steps.average.percent) == (1.0, 50.0)
    assert steps.median == Change(2.0, 3.0)
    assert steps.ninetieth == Change(3.0, 4.0)
    assert (steps.shortest, steps.longest) == (Change(1.0, 2.0), Change(3.0, 4.0))
    assert steps.deviation.left == 1.0
    assert steps.deviation.right == pytest.approx((2 / 3) ** 0.5)
    assert steps.count == Change(2, 3)


@pytest.mark.parametrize(
    ("left", "right", "difference", "percent"),
    [
        (2.0, 1.0, -1.0, -50.0),
        (4.0, 5.0, 1.0, 25.0),
        (0.0, 5.0, 5.0, None),
        (None, 5.0, None, None),
        (5.0, None, None, None),
    ],
)
def test_a_change_is_right_minus_left(
    left: float | None, right: float | None, difference: float | None, percent: float | None
) -> None:
    change = Change(left, right)
    assert (change.difference, change.percent) == (difference, percent)


def test_operations_are_compared_by_step_and_core() -> None:
    left = session(1.0, 1.0, ops={"add": 80.0, "mul": 40.0}, cores=4)
    right = session(1.0, ops={"add": 60.0, "new": 20.0}, cores=2)
    found = compare(left, right)
    assert found.basis is Basis.STEP
    assert found.ops_us == Change(15.0, 40.0)
    # 80 µs in two steps on four cores are 10 µs; 60 µs in one step on two cores are 30 µs.
    assert [(op.name, op.standing, op.time_us) for op in found.ops] == [
        ("add", OpStanding.BOTH, Change(10.0, 30.0)),
        ("new", OpStanding.ADDED, Change(0.0, 10.0)),
        ("mul", OpStanding.REMOVED, Change(5.0, 0.0)),
    ]
    assert found.ops[0].share == Change(80 / 120, 60 / 80)


def test_the_largest_change_comes_first_whichever_way_it_goes() -> None:
    left = session(1.0, ops={"a": 50.0, "b": 50.0, "c": 50.0})
    right = session(1.0, ops={"a": 60.0, "b": 10.0, "c": 50.0})
    assert [op.name for op in compare(left, right).ops] == ["b", "a", "c"]


def test_without_steps_whole_profiles_are_compared() -> None:
    left = session(1.0, 1.0, ops={"add": 80.0}, cores=4)
    found = compare(left, session(ops={"add": 60.0}, cores=2))
    assert found.basis is Basis.PROFILE
    assert found.ops[0].time_us == Change(20.0, 30.0)
    assert any("no steps" in warning for warning in found.warnings)


def test_an_operation_beyond_the_end_of_a_list_is_not_called_gone() -> None:
    left = session(1.0, ops={"a": 50.0, "b": 5.0})
    cut = session(1.0, ops={"a": 50.0}, op_count=900)
    by_name = {op.name: op.standing for op in compare(left, cut).ops}
    assert by_name == {"a": OpStanding.BOTH, "b": OpStanding.UNLISTED}
    assert {op.name: op.standing for op in compare(cut, left).ops} == by_name


def test_operations_of_hosts_are_counted_by_host() -> None:
    left = session(1.0, ops={"read": 80.0}, cores=16, host_count=4, is_host_time=True)
    assert compare(left, left).ops[0].time_us == Change(20.0, 20.0)


def test_the_same_session_differs_in_nothing() -> None:
    one = session(1.0, 2.0, ops={"a": 1.0}, utilisation=Utilisation(duty_cycle=85.4))
    found = compare(one, one)
    assert found.warnings == ()
    assert found.ops[0].size == 0
    assert (found.use.duty_cycle.difference, found.use.idle.is_known) == (0.0, False)


def test_what_makes_sessions_unlike_is_said() -> None:
    left = session(1.0, ops={"a": 1.0}, cores=8)
    right = session(1.0, ops={"a": 1.0}, cores=16, device_type="GPU", host_count=2)
    devices, cores, hosts = compare(left, right).warnings
    assert "TPU v5p on the left, GPU on the right" in devices
    assert "8 device cores, the right one 16" in cores
    assert "1 hosts, the right one 2" in hosts


def test_settings_that_differ_are_told_from_the_same() -> None:
    left: dict[str, Json] = {
        "userConfigs": {"batch": 256, "lr": "1e-3", "mesh": [4, 4], "only": True},
        "softwareConfigs": {"framework": "jax", "nested": {"a": {"b": None}}},
    }
    right: dict[str, Json] = {
        "userConfigs": {"batch": 512, "lr": "1e-3", "mesh": [8, 2], "seed": 1.0},
        "softwareConfigs": {"framework": "jax", "nested": {"a": {"b": None}}},
    }
    found = compare_configs(left, right)
    assert [(line.name, line.left, line.right) for line in found.differing] == [
        ("userConfigs.batch", "256", "512"),
        ("userConfigs.mesh", "[4, 4]", "[8, 2]"),
        ("userConfigs.only", "true", None),
        ("userConfigs.seed", None, "1"),
    ]
    assert [line.name for line in found.same] == [
        "softwareConfigs.framework",
        "softwareConfigs.nested.a.b",
        "userConfigs.lr",
    ]


def test_a_number_and_its_text_are_the_same_setting() -> None:
    assert compare_configs({"a": {"b": 1}}, {"a": {"b": "1"}}).differing == ()
    assert compare_configs({"a": {"b": 1.0}}, {"a": {"b": 1}}).differing == ()
    assert compare_configs({"a": {"b": True}}, {"a": {"b": 1}}).differing != ()


def test_long_configurations_are_cut_and_said_to_be() -> None:
    left: dict[str, Json] = {"a": {f"k{number:05}": number for number in range(5000)}}
    found = compare_configs(left, {"a": {"k00000": "x" * 1000}})
    assert found.is_cut
    assert len(found.differing) == 2000
    shown = found.differing[0].right
    assert shown is not None
    assert len(shown) == 500
    # Values are compared whole, though they are shown cut.
    assert compare_configs({"a": "x" * 600 + "1"}, {"a": "x" * 600 + "2"}).differing
