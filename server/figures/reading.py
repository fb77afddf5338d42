"""From XProf's answers to a session's figures. Pure: any shape of an answer gives figures, or fewer of them.

Facts about the answers are those of xprof 2.24.2, seen on profiles of TPUs, GPUs and CPUs
(tests/integration/test_figures_of_sessions.py asks XProf for them again).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from server.figures.shapes import amount, mapping, name, properties, rows, sequence, whole
from server.figures.step_reading import read_steps, steps_of, thinned
from server.figures.values import MOST_OPS, OpTime, SessionFigures, Utilisation

OVERVIEW, POD, OPS, MEMORY = (
    "overview_page",
    "pod_viewer",
    "framework_op_stats",
    "memory_profile",
)
"""The tools whose answers hold the figures; the first three are made from one artifact."""
_IDLE = "IDLE"
_PLACEMENT, _STEPS, _RUN = 0, 1, 2
_WITH_IDLE, _WITHOUT_IDLE = 0, 1


def read_figures(answers: Mapping[str, object], gaps: Iterable[str] = ()) -> SessionFigures:
    """The figures that answers hold.

    Args:
        answers: XProf's parsed answers by tool; a missing one leaves its figures out.
        gaps: sentences about answers that could not be had.
    """
    overview, operations = answers.get(OVERVIEW), answers.get(OPS)
    times, hosts = read_steps(answers.get(POD))
    times = times or _overview_times(overview)
    steps = steps_of(times)
    run = properties(overview, _RUN)
    ops, ops_time, is_host_time = _read_ops(operations)
    peak, capacity = _read_memory(answers.get(MEMORY))
    return SessionFigures(
        step_times_ms=thinned(times),
        average_step_ms=steps.average if steps else _overview_average(overview),
        steps=steps,
        device_type=name(run.get("device_type"))
        or name(mapping(answers.get(POD)).get("deviceType")),
        device_count=whole(run.get("device_core_count")),
        host_count=whole(run.get("host_count")),
        utilisation=_read_utilisation(overview, operations),
        peak_memory_bytes=peak,
        memory_capacity_bytes=capacity,
        hosts=hosts,
        top_ops=tuple(ops[:MOST_OPS]),
        op_count=len(ops),
        ops_time_us=ops_time,
        is_host_time=is_host_time,
        gaps=tuple(gaps),
    )


def _overview_times(overview: object) -> list[float]:
    """Step times of the overview, which has them for all but TPUs."""
    times = (amount(row.get("stepTimeMs")) for row in rows(overview, _STEPS))
    return [time for time in times if time]


def _overview_average(overview: object) -> float | None:
    # Without a step XProf's answer says 0.0 ms.
    if not any(True for _ in rows(overview, _STEPS)):
        return None
    return amount(properties(overview, _STEPS).get("steptime_ms_average")) or None


def _read_utilisation(overview: object, operations: object) -> Utilisation:
    """XProf's overview shows its own shares for TPUs only; on other devices it answers zeros there."""
    idle = _idle_percent(operations)
    if properties(overview, _STEPS).get("hardware_type") != "TPU":
        return Utilisation(idle=idle)
    told = properties(overview, _PLACEMENT)
    return Utilisation(
        duty_cycle=_percent(told.get("device_duty_cycle_percent")),
        idle=idle,
        matrix_units=_percent(told.get("mxu_utilization_percent")),
        flops_of_roofline=_percent(told.get("flop_rate_utilization_relative_to_roofline")),
        memory_bandwidth=_percent(told.get("hbm_utilization_percent")),
    )


def _percent(value: object) -> float | None:
    return amount(value) if isinstance(value, str) and value.endswith("%") else None


def _idle_percent(operations: object) -> float | None:
    for row in rows(operations, _WITH_IDLE):
        if row.get("host_or_device") == "Device" and row.get("operation") == _IDLE:
            share = amount(row.get("device_total_self_time_percent"))
            return None if share is None or share > 1 else 100 * share
    return None


def _read_ops(operations: object) -> tuple[list[OpTime], float, bool]:
    """Operations with most time first, the time of all, and whether it is that of hosts."""
    # Without idle time there is a table of its own; a lone table holds it as a row.
    place = _WITHOUT_IDLE if len(sequence(operations)) > _WITHOUT_IDLE else _WITH_IDLE
    found: dict[str, dict[str, OpTime]] = {"Device": {}, "Host": {}}
    for row in rows(operations, place):
        op = _op(row)
        where = row.get("host_or_device")
        if op is not None and isinstance(where, str) and where in found:
            found[where][op.name] = _joined(found[where].get(op.name), op)
    is_host_time = not found["Device"]
    ops = list(found["Host" if is_host_time else "Device"].values())
    total = math.fsum(op.self_time_us for op in ops)
    ops.sort(key=lambda op: (-op.self_time_us, op.name))
    shared = [
        OpTime(op.name, op.category, op.self_time_us, op.self_time_us / total, op.occurrences)
        for op in ops
    ]
    return shared, total, is_host_time and bool(ops)


def _op(row: Mapping[str, object]) -> OpTime | None:
    """An operation whose share is not known yet; None for idle time and for one that takes none."""
    called, time = name(row.get("operation")), amount(row.get("total_self_time"))
    if not called or called == _IDLE or not time:
        return None
    return OpTime(called, name(row.get("type")), time, 0.0, whole(row.get("occurrences")) or 0)


def _joined(one: OpTime | None, other: OpTime) -> OpTime:
    """Rows of one name together; the category is that of the one with more time."""
    if one is None:
        return other
    return OpTime(
        one.name,
        max(one, other, key=lambda op: op.self_time_us).category,
        one.self_time_us + other.self_time_us,
        0.0,
        one.occurrences + other.occurrences,
    )


def _read_memory(answer: object) -> tuple[int | None, int | None]:
    """Peak and capacity in bytes of the allocator that had most in use."""
    found = []
    for allocator in mapping(mapping(answer).get("memoryProfilePerAllocator")).values():
        summary = mapping(mapping(allocator).get("profileSummary"))
        peak = whole(mapping(summary.get("peakStats")).get("peakBytesInUse"))
        if peak:
            found.append((peak, whole(summary.get("memoryCapacity")) or None))
    return max(found, key=lambda pair: pair[0]) if found else (None, None)
