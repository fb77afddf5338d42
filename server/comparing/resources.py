"""A comparison as the API shows it. No route and no query."""

from __future__ import annotations

from server.comparing.sides import Compared, Side
from server.comparing.values import Change, Comparison, OpChange, StepChange, UseChange
from server.figures.freshness import Standing
from server.names import session_name
from server.schemas import comparisons as schemas
from server.site.public_address import dashboard_uri

_STATES = {
    Standing.PENDING: schemas.ComparisonState.PENDING,
    Standing.READY: schemas.ComparisonState.READY,
    Standing.FAILED: schemas.ComparisonState.FAILED,
}


def comparison_resource(compared: Compared, base: str, most_ops: int) -> schemas.Comparison:
    """A comparison as the API shows it.

    Args:
        compared: both sides, and what differs.
        base: address of this hub's pages, as `server.site.public_address` has it.
        most_ops: at most so many operations.
    """
    found = compared.comparison
    resource = schemas.Comparison(
        state=_STATES[compared.standing],
        left=_side(compared.left, base),
        right=_side(compared.right, base),
        warnings=list(compared.warnings),
        configs=[
            schemas.ConfigChange(name=line.name, left=line.left, right=line.right)
            for line in compared.configs.differing
        ],
        same_config_count=len(compared.configs.same),
    )
    return resource if found is None else resource.model_copy(update=_found(found, most_ops))


def _found(found: Comparison, most_ops: int) -> dict[str, object]:
    return {
        "step_time": _steps(found.steps),
        "utilisation": _use(found.use),
        "memory": schemas.MemoryChange(
            peak_bytes=_change(found.use.peak_memory_bytes),
            capacity_bytes=_change(found.use.memory_capacity_bytes),
        ),
        "op_basis": found.basis.value,
        "ops_time_us": _change(found.ops_us),
        "ops": [_op(op) for op in found.ops[:most_ops]],
        "op_count": len(found.ops),
    }


def _side(side: Side, base: str) -> schemas.ComparedSession:
    figures = side.figures
    return schemas.ComparedSession(
        name=session_name(side.run.id, side.session.id),
        uid=side.session.uid,
        display_name=side.session.display_name,
        run_display_name=side.run.display_name,
        dashboard_uri=dashboard_uri(base, side.run.id, side.session.id),
        state=_STATES[side.standing],
        problem=side.problem or None,
        device_type=(figures.device_type or None) if figures else None,
        device_count=figures.device_count if figures else None,
        host_count=figures.host_count if figures else None,
        step_times_ms=list(figures.step_times_ms) if figures else [],
        gaps=list(figures.gaps) if figures else [],
    )


def _change(change: Change) -> schemas.NumberChange:
    return schemas.NumberChange(
        left=change.left,
        right=change.right,
        difference=change.difference,
        percent=change.percent,
    )


def _steps(steps: StepChange) -> schemas.StepTimeChange:
    return schemas.StepTimeChange(
        average_ms=_change(steps.average),
        median_ms=_change(steps.median),
        p90_ms=_change(steps.ninetieth),
        shortest_ms=_change(steps.shortest),
        longest_ms=_change(steps.longest),
        deviation_ms=_change(steps.deviation),
        count=_change(steps.count),
    )


def _use(use: UseChange) -> schemas.UtilisationChange:
    return schemas.UtilisationChange(
        duty_cycle_percent=_change(use.duty_cycle),
        idle_percent=_change(use.idle),
        matrix_units_percent=_change(use.matrix_units),
        flops_of_roofline_percent=_change(use.flops_of_roofline),
        memory_bandwidth_percent=_change(use.memory_bandwidth),
    )


def _op(op: OpChange) -> schemas.OpTimeChange:
    return schemas.OpTimeChange(
        name=op.name,
        category=op.category,
        standing=op.standing.value,
        time_us=_change(op.time_us),
        left_share=op.share.left or 0.0,
        right_share=op.share.right or 0.0,
    )
