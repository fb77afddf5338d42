"""Comparing the figures of two sessions. Pure arithmetic; nothing is looked up."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from server.comparing.values import (
    Basis,
    Change,
    Comparison,
    OpChange,
    OpStanding,
    StepChange,
    UseChange,
)
from server.figures.values import OpTime, SessionFigures, Steps


def compare(left: SessionFigures, right: SessionFigures) -> Comparison:
    """What differs between two sessions; `left` is what `right` is compared with."""
    basis = Basis.STEP if left.steps and right.steps else Basis.PROFILE
    units = _unit(left, basis), _unit(right, basis)
    return Comparison(
        steps=_steps(left, right),
        use=_use(left, right),
        devices=Change(left.device_count, right.device_count),
        hosts=Change(left.host_count, right.host_count),
        basis=basis,
        ops_us=Change(_all_ops(left, units[0]), _all_ops(right, units[1])),
        ops=_ops(left, right, units),
        warnings=tuple(_warnings(left, right, basis)),
    )


def _unit(figures: SessionFigures, basis: Basis) -> float:
    """By how much operations' times are divided: cores, and steps if both sides have some."""
    cores = figures.host_count if figures.is_host_time else figures.device_count
    steps = figures.steps.count if figures.steps and basis is Basis.STEP else 1
    return float(max(cores or 1, 1) * max(steps, 1))


def _all_ops(figures: SessionFigures, unit: float) -> float | None:
    return figures.ops_time_us / unit if figures.op_count else None


def _steps(left: SessionFigures, right: SessionFigures) -> StepChange:
    sides = left.steps, right.steps

    def change(read: Callable[[Steps], float]) -> Change:
        one, other = (None if steps is None else read(steps) for steps in sides)
        return Change(one, other)

    return StepChange(
        average=Change(left.average_step_ms, right.average_step_ms),
        median=change(lambda steps: steps.median),
        ninetieth=change(lambda steps: steps.ninetieth),
        shortest=change(lambda steps: steps.shortest),
        longest=change(lambda steps: steps.longest),
        deviation=change(lambda steps: steps.deviation),
        count=change(lambda steps: steps.count),
    )


def _use(left: SessionFigures, right: SessionFigures) -> UseChange:
    one, other = left.utilisation, right.utilisation
    return UseChange(
        duty_cycle=Change(one.duty_cycle, other.duty_cycle),
        idle=Change(one.idle, other.idle),
        matrix_units=Change(one.matrix_units, other.matrix_units),
        flops_of_roofline=Change(one.flops_of_roofline, other.flops_of_roofline),
        memory_bandwidth=Change(one.memory_bandwidth, other.memory_bandwidth),
        peak_memory_bytes=Change(left.peak_memory_bytes, right.peak_memory_bytes),
        memory_capacity_bytes=Change(left.memory_capacity_bytes, right.memory_capacity_bytes),
    )


def _ops(
    left: SessionFigures, right: SessionFigures, units: tuple[float, float]
) -> tuple[OpChange, ...]:
    lefts, rights = _by_name(left), _by_name(right)
    found = [
        _op(name, (lefts.get(name), rights.get(name)), units, (_is_cut(left), _is_cut(right)))
        for name in {**lefts, **rights}
    ]
    found.sort(key=lambda op: (-op.size, -(op.time_us.right or 0.0), op.name))
    return tuple(found)


def _by_name(figures: SessionFigures) -> dict[str, OpTime]:
    """Operations by their names; of two whose long names were cut to the same, the one with more time."""
    return {op.name: op for op in reversed(figures.top_ops)}


def _is_cut(figures: SessionFigures) -> bool:
    return figures.op_count > len(figures.top_ops)


def _op(
    name: str,
    sides: tuple[OpTime | None, OpTime | None],
    units: tuple[float, float],
    are_cut: tuple[bool, bool],
) -> OpChange:
    left, right = sides
    if left and right:
        standing = OpStanding.BOTH
    elif are_cut[0 if left is None else 1]:
        standing = OpStanding.UNLISTED
    else:
        standing = OpStanding.ADDED if left is None else OpStanding.REMOVED
    shown = right or left
    return OpChange(
        name=name,
        category=shown.category if shown else "",
        standing=standing,
        time_us=Change(
            left.self_time_us / units[0] if left else 0.0,
            right.self_time_us / units[1] if right else 0.0,
        ),
        share=Change(left.share if left else 0.0, right.share if right else 0.0),
    )


def _warnings(left: SessionFigures, right: SessionFigures, basis: Basis) -> Iterator[str]:
    if left.device_type != right.device_type:
        yield (
            f"The devices differ: {left.device_type or 'unknown'} on the left, "
            f"{right.device_type or 'unknown'} on the right."
        )
    if left.device_count != right.device_count:
        yield (
            f"The left session has {_count(left.device_count)} device cores, "
            f"the right one {_count(right.device_count)}."
        )
    if left.host_count != right.host_count:
        yield (
            f"The left session has {_count(left.host_count)} hosts, "
            f"the right one {_count(right.host_count)}."
        )
    has_ops = bool(left.op_count and right.op_count)
    if basis is Basis.PROFILE and has_ops:
        yield (
            "There are no steps on at least one side: times of operations are those of the whole profile, "
            "and a longer capture has more of it."
        )
    if has_ops and left.is_host_time != right.is_host_time:
        yield "One side has times of operations on devices, the other on hosts only."


def _count(value: int | None) -> str:
    return "an unknown number of" if value is None else str(value)
