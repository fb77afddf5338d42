"""The first glance: the overview's headline figures, made by the server from XProf's own answer.

A page shows them while XProf's scripts still load. Each is the text that XProf's overview shows later under
the same name, in the same order (xprof 2.24.2, found by giving its page answers of our own); what the answer
does not say is left out, never guessed. This module knows no request, no session and no page: it reads one
parsed answer, and any shape of it gives a glance or none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

_OPS, _STEPS, _ENVIRONMENT = 0, 1, 2
"""Places of the answer's tables: operations, steps, and where it ran."""
_TEXT_LIMIT = 40
"""Characters of a figure; a longer one is none."""
_STATEMENT_LIMIT = 600
_NAME_LIMIT = 160
_MOST_OPS = 5


@dataclass(frozen=True)
class Figure:
    """One figure, or several under one heading.

    Attributes:
        label: what it is.
        value: its text with its unit; empty for a heading.
        notes: short lines below the label.
        parts: the figures under a heading.
    """

    label: str
    value: str = ""
    notes: tuple[str, ...] = ()
    parts: tuple[Figure, ...] = ()


@dataclass(frozen=True)
class TopOp:
    """An operation that took much of the time.

    Attributes:
        name: its name, cut where it is long.
        percent: its share of the time as text, e.g. `30.2%`.
        width: its share, compared with the largest one, in percent: 0 to 100.
    """

    name: str
    percent: str
    width: float


@dataclass(frozen=True)
class Glance:
    """What is shown of an overview before XProf shows it.

    Attributes:
        figures: XProf's performance summary, from top to bottom.
        environment: name and value of each line about the run.
        statement: whether the program waits for input, in XProf's words; may be empty.
        ops: the operations that took most time, the first one most.
    """

    figures: tuple[Figure, ...]
    environment: tuple[tuple[str, str], ...]
    statement: str
    ops: tuple[TopOp, ...]


Properties = Mapping[str, str]


@dataclass(frozen=True)
class _Row:
    """How XProf shows one property."""

    label: str
    name: str
    note: str = ""


_FLOPS = (
    _Row("Utilization of TPU Matrix Units", "mxu_utilization_percent"),
    _Row(
        "Compared to Program's Optimal FLOPS",
        "flop_rate_utilization_relative_to_roofline",
        "see roofline_model",
    ),
)
_BANDWIDTH = (
    _Row("HBM Utilization", "hbm_utilization_percent"),
    _Row(
        "Compared to Program's Optimal Bandwidth (VMem + SpMem + HBM)",
        "memory_bw_utilization_relative_to_hw_limit",
    ),
)
_PLACEMENT = (_Row("Host", "host_tf_op_percent"), _Row("Device", "device_tf_op_percent"))
_EAGER = (
    _Row("Host", "host_op_time_eager_percent"),
    _Row("Device", "device_op_time_eager_percent"),
)
_PRECISIONS = (
    _Row("16-bit", "device_compute_16bit_percent"),
    _Row("32-bit", "device_compute_32bit_percent"),
)
_PARTS_OF_STEP = (
    _Row("All Others Time", "other_time_ms"),
    _Row("Compilation Time", "compile_time_ms"),
    _Row("Output Time", "outfeed_time_ms"),
    _Row("Input Time", "infeed_time_ms"),
    _Row("Kernel Launch Time", "kernel_launch_time_ms"),
    _Row("Host Compute Time", "host_compute_time_ms"),
    _Row("Device Collective Communication Time", "device_collectives_time_ms"),
    _Row("Device to Device Time", "device_to_device_time_ms"),
    _Row("Device Compute Time", "device_compute_time_ms"),
)
_RUN = (
    _Row("Is training job", "is_training"),
    _Row("Number of Hosts used", "host_count"),
    _Row("Device type", "device_type"),
    _Row("Number of device cores", "device_core_count"),
)
_LOWER, _HIGHER = "lower is better.", "higher is better."


def read_glance(answer: object) -> Glance | None:
    """The first glance of an overview.

    Args:
        answer: XProf's parsed `overview_page` answer.

    Returns:
        None when it is no such answer, or says nothing.
    """
    if not isinstance(answer, list):
        return None
    ops, steps, run = (_properties(answer, place) for place in (_OPS, _STEPS, _ENVIRONMENT))
    glance = Glance(
        figures=tuple(_figures(ops, steps, has_steps=bool(_rows(answer, _STEPS)))),
        environment=tuple((row.label, run[row.name]) for row in _RUN if run.get(row.name)),
        statement=_statement(answer),
        ops=_top_ops(answer),
    )
    return glance if glance.figures else None


def _figures(ops: Properties, steps: Properties, has_steps: bool) -> Iterator[Figure]:
    is_tpu = steps.get("hardware_type") == "TPU"
    # Without a step XProf's answer says 0.0 ms, which would be a wrong first figure.
    if has_steps:
        sigma = steps.get("steptime_ms_standard_deviation", "")
        yield from _time("Average Step Time", steps, "steptime_ms_average", sigma, _LOWER)
    if is_tpu:
        yield from _group("FLOPS Utilization", ops, _FLOPS, _HIGHER)
        duty_cycle = ops.get("device_duty_cycle_percent")
        if duty_cycle:
            yield Figure("TPU Duty Cycle", duty_cycle, (_HIGHER,))
        yield from _group("Memory Bandwidth Utilization", ops, _BANDWIDTH, _HIGHER)
    elif has_steps:
        for row in _PARTS_OF_STEP:
            deviation = steps.get(f"{row.name}_sdv", "")
            yield from _time(row.label, steps, f"{row.name}_avg", deviation)
    yield from _group(
        "Framework Op Placement", ops, _PLACEMENT, "generally desired to have more ops on device"
    )
    yield from _group("Op Time Spent on Eager Execution", ops, _EAGER, _LOWER)
    yield from _group("Device Compute Precisions", ops, _PRECISIONS, "out of Total Device Time")


def _time(
    label: str, steps: Properties, name: str, deviation: str, *notes: str
) -> Iterator[Figure]:
    """A time in milliseconds with its standard deviation."""
    if steps.get(name):
        sigma = (f"(σ = {deviation} ms)",) if deviation else ()  # noqa: RUF001 - the field's sign
        yield Figure(label, f"{steps[name]} ms", (*sigma, *notes))


def _group(label: str, ops: Properties, rows: Sequence[_Row], *notes: str) -> Iterator[Figure]:
    """Figures under one heading, unless there are none."""
    parts = tuple(
        Figure(row.label, ops[row.name], (row.note,) if row.note else ())
        for row in rows
        if ops.get(row.name)
    )
    if parts:
        yield Figure(label, notes=notes, parts=parts)


def _table(answer: Sequence[object], place: int) -> Mapping[str, object]:
    table = answer[place] if place < len(answer) else None
    return table if isinstance(table, dict) else {}


def _properties(answer: Sequence[object], place: int) -> Properties:
    """A table's short texts by their names."""
    found = _table(answer, place).get("p")
    if not isinstance(found, dict):
        return {}
    return {
        name: value
        for name, value in found.items()
        if isinstance(value, str) and len(value) <= _TEXT_LIMIT
    }


def _rows(answer: Sequence[object], place: int) -> Sequence[object]:
    rows = _table(answer, place).get("rows")
    return rows if isinstance(rows, list) else ()


def _statement(answer: Sequence[object]) -> str:
    properties = _table(answer, _STEPS).get("p")
    text = properties.get("input_conclusion") if isinstance(properties, dict) else None
    return text if isinstance(text, str) and len(text) <= _STATEMENT_LIMIT else ""


def _top_ops(answer: Sequence[object]) -> tuple[TopOp, ...]:
    columns = _table(answer, _OPS).get("cols")
    if not isinstance(columns, list):
        return ()
    names = [column.get("id") if isinstance(column, dict) else None for column in columns]
    if "operation" not in names or "selfTimePercent" not in names:
        return ()
    name_at, share_at = names.index("operation"), names.index("selfTimePercent")
    found = [
        (name, share)
        for name, share in (
            (_cell(row, name_at), _cell(row, share_at)) for row in _rows(answer, _OPS)
        )
        if isinstance(name, str) and isinstance(share, float | int) and 0 < share <= 1
    ]
    most = sorted(found, key=lambda op: op[1], reverse=True)[:_MOST_OPS]
    return tuple(
        TopOp(_shortened(name), f"{share:.1%}", round(100 * share / most[0][1], 1))
        for name, share in most
    )


def _cell(row: object, place: int) -> object:
    cells = row.get("c") if isinstance(row, dict) else None
    if not isinstance(cells, list) or place >= len(cells):
        return None
    cell = cells[place]
    return cell.get("v") if isinstance(cell, dict) else None


def _shortened(name: str) -> str:
    return name if len(name) <= _NAME_LIMIT else f"{name[: _NAME_LIMIT - 1]}…"
