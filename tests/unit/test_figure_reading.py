"""Figures from answers of every shape: right numbers from right ones, and nothing from the rest."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from typing import Any

import pytest

from server.figures.reading import MEMORY, OPS, OVERVIEW, POD, read_figures
from server.figures.shapes import amount, name
from server.figures.step_reading import steps_of, thinned
from server.figures.values import MOST_NAME, MOST_OPS, MOST_POINTS, SessionFigures

EMPTY = SessionFigures()
STRANGE: list[object] = [
    None,
    True,
    0,
    -1,
    "x",
    "",
    [],
    {},
    [[]],
    [{}],
    {"p": []},
    float("nan"),
    float("inf"),
]


def core(host: str, total: object, **parts: object) -> dict[str, object]:
    return {"hostName": host, "totalDurationUs": total, "stepBreakdownUs": parts}


def pods(*steps: Mapping[str, object]) -> dict[str, object]:
    return {
        "podStatsSequence": {"podStatsMap": [{"podStatsPerCore": step} for step in steps]},
        "stepBreakdownEvents": [{"id": 1, "name": "Device compute"}, {"id": 9, "name": "Other"}],
        "deviceType": "TPU v9",
    }


def table(*rows: Mapping[str, object], **properties: object) -> dict[str, object]:
    ids = sorted({column for row in rows for column in row})
    return {
        "cols": [{"id": column} for column in ids],
        "rows": [{"c": [{"v": row.get(column)} for column in ids]} for row in rows],
        "p": properties,
    }


def op(called: object, time: object, **more: object) -> dict[str, object]:
    row = {"operation": called, "total_self_time": time, "host_or_device": "Device"}
    return {**row, "type": "fusion", "occurrences": 4, **more}


def ops(*rows: Mapping[str, object]) -> dict[str, object]:
    return {OPS: [table(), table(*rows)]}


def test_a_step_lasts_as_long_as_on_its_slowest_core() -> None:
    answer = pods(
        {"0": core("a", 1000), "1": core("a", 3000), "2": core("b", 2000)},
        {"0": core("a", 1000), "1": core("a", 1500), "2": core("b", 4000)},
    )
    found = read_figures({POD: answer})
    assert found.step_times_ms == (3.0, 4.0)
    assert found.average_step_ms == 3.5
    assert found.device_type == "TPU v9"
    slowest, fastest = found.hosts
    assert (slowest.name, slowest.average_step_ms, slowest.slowest_step_ms) == ("b", 3.0, 4.0)
    assert (fastest.name, fastest.average_step_ms, fastest.slowest_step_ms) == ("a", 2.25, 3.0)


def test_parts_are_means_over_cores_and_steps() -> None:
    answer = pods(
        {"0": core("a", 1000, **{"1": 600, "9": 400}), "1": core("a", 1000, **{"1": 1000})},
        {"0": core("a", 1000, **{"1": 800, "9": 200}), "1": core("a", 1000, **{"7": 5})},
    )
    parts = read_figures({POD: answer}).hosts[0].parts
    assert [part.name for part in parts] == ["Device compute", "Other"]
    assert [part.average_ms for part in parts] == pytest.approx([0.6, 0.15])


def test_steps_are_described_by_arithmetic() -> None:
    steps = steps_of([float(number) for number in range(1, 11)])
    assert steps is not None
    assert (steps.count, steps.average, steps.median) == (10, 5.5, 5.5)
    assert (steps.ninetieth, steps.shortest, steps.longest) == (9.0, 1.0, 10.0)
    assert steps.deviation == pytest.approx(8.25**0.5)
    assert steps_of([]) is None


def test_many_steps_become_averages_of_neighbours() -> None:
    assert thinned([1.0, 2.0, 3.0], 3) == (1.0, 2.0, 3.0)
    assert thinned([1.0, 3.0, 5.0, 7.0], 2) == (2.0, 6.0)
    assert thinned([1.0, 2.0, 6.0], 2) == (1.0, 4.0)
    answer = pods(*({"0": core("a", 1000 * (number + 1))} for number in range(1000)))
    found = read_figures({POD: answer})
    assert len(found.step_times_ms) == MOST_POINTS
    assert found.step_times_ms[0] == 3.0
    assert found.steps is not None
    assert (found.steps.count, found.steps.longest) == (1000, 1000.0)


def test_operations_of_one_name_are_one() -> None:
    found = read_figures(
        ops(op("add", 10), op("mul", 60, type="convolution"), op("add", 30, type="loop"))
    )
    assert [(one.name, one.category, one.self_time_us) for one in found.top_ops] == [
        ("mul", "convolution", 60.0),
        ("add", "loop", 40.0),
    ]
    assert [one.share for one in found.top_ops] == [0.6, 0.4]
    assert [one.occurrences for one in found.top_ops] == [4, 8]
    assert (found.op_count, found.ops_time_us) == (2, 100.0)


def test_operations_of_hosts_count_where_no_device_has_any() -> None:
    host = op("input", 90, host_or_device="Host")
    assert [one.name for one in read_figures(ops(op("add", 10), host)).top_ops] == ["add"]
    alone = read_figures(ops(host))
    assert [one.name for one in alone.top_ops] == ["input"]
    assert alone.is_host_time


def test_idle_time_is_no_operation() -> None:
    idle = op("IDLE", 50, device_total_self_time_percent=0.25)
    found = read_figures({OPS: [table(idle, op("add", 10)), table(idle, op("add", 10))]})
    assert [one.name for one in found.top_ops] == ["add"]
    assert found.utilisation.idle == 25.0


def test_no_more_operations_are_kept_than_needed() -> None:
    found = read_figures(ops(*(op(f"op{number}", number + 1) for number in range(MOST_OPS + 50))))
    assert (len(found.top_ops), found.op_count) == (MOST_OPS, MOST_OPS + 50)
    assert found.top_ops[0].name == f"op{MOST_OPS + 49}"


def test_shares_of_other_devices_than_tpus_are_not_believed() -> None:
    told = {"device_duty_cycle_percent": "0.0%", "mxu_utilization_percent": "0.0%"}
    for hardware, expected in (("GPU", None), ("CPU_ONLY", None), ("TPU", 0.0)):
        overview = [table(**told), table(hardware_type=hardware), table()]
        use = read_figures({OVERVIEW: overview}).utilisation
        assert (use.duty_cycle, use.matrix_units) == (expected, expected)


def test_the_overview_helps_out_where_steps_are_missing() -> None:
    rows = ({"stepTimeMs": 2.0}, {"stepTimeMs": 4.0})
    found = read_figures({OVERVIEW: [table(), table(*rows), table()]})
    assert (found.step_times_ms, found.average_step_ms) == ((2.0, 4.0), 3.0)
    without = [table(), table({"stepnum": "0"}, steptime_ms_average="1.57"), table()]
    assert read_figures({OVERVIEW: without}).average_step_ms == 1.57
    assert read_figures({OVERVIEW: without}).steps is None
    # XProf says 0.0 where it saw no step.
    assert (
        read_figures(
            {OVERVIEW: [table(), table(steptime_ms_average="0.0"), table()]}
        ).average_step_ms
        is None
    )


def test_the_fullest_allocator_counts() -> None:
    def allocator(peak: object, capacity: object) -> dict[str, object]:
        summary = {"peakStats": {"peakBytesInUse": peak}, "memoryCapacity": capacity}
        return {"profileSummary": summary}

    answer = {
        "memoryProfilePerAllocator": {
            "0": allocator("5", "100"),
            "1": allocator("70", "80"),
            "2": allocator("-1", "9"),
            "3": allocator(None, "9"),
        }
    }
    found = read_figures({MEMORY: answer})
    assert (found.peak_memory_bytes, found.memory_capacity_bytes) == (70, 80)


@pytest.mark.parametrize("value", [*STRANGE, 10**400, -5.0, "1e999", "nan", "1" * 40, "0x10"])
def test_what_is_no_number_is_none(value: object) -> None:
    assert amount(value) in (None, 0.0)


def test_names_become_short_lines() -> None:
    assert name("a\n b\tc\0") == "a b c"
    assert name("\ud800x") == "?x"
    long = name("head" + "x" * 1000 + "tail")
    assert len(long) == MOST_NAME
    assert long.startswith("head") and long.endswith("tail")
    assert len(name("x" * 10_000_000)) == MOST_NAME
    assert name(["x"]) == ""


def test_other_shapes_give_nothing() -> None:
    for strange in STRANGE:
        for tool in (OVERVIEW, POD, OPS, MEMORY):
            assert read_figures({tool: strange}) == EMPTY
            assert read_figures({tool: [strange] * 3}) == EMPTY


def test_answers_with_a_part_replaced_still_give_figures() -> None:
    answers: dict[str, Any] = {
        OVERVIEW: [table(x="1%"), table({"stepTimeMs": 1.0}, hardware_type="TPU"), table()],
        POD: pods({"0": core("a", 1000, **{"1": 600})}),
        **ops(op("add", 10), op("mul", 20)),
        MEMORY: {"memoryProfilePerAllocator": {"0": {"profileSummary": {"peakStats": {}}}}},
    }
    dice = random.Random(7)
    for _ in range(500):
        changed = json.loads(json.dumps(answers))
        _replace_one(changed, dice)
        found = read_figures(changed)
        assert len(found.top_ops) <= 2 and len(found.step_times_ms) <= 1
        assert all(time > 0 for time in found.step_times_ms)


def _replace_one(value: Any, dice: random.Random) -> None:
    """Replaces something inside by something strange."""
    while True:
        key = dice.choice(list(value) if isinstance(value, dict) else range(len(value)))
        below = value[key]
        if not isinstance(below, dict | list) or not below or dice.random() < 0.2:
            value[key] = dice.choice(STRANGE)
            return
        value = below
