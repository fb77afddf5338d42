"""`xprof-hub compare`: two sessions side by side, and an exit status for pipelines that watch speed."""

from __future__ import annotations

import math
from typing import Annotated

import typer
from rich.text import Text

from server.commands.console import (
    JsonOption,
    TokenOption,
    UrlOption,
    connected,
    examples,
    fail,
    print_json,
    print_table,
    say,
    split_session,
)
from server.commands.exits import ExitStatus
from server.commands.progress import progress_bar
from server.comparing import words
from server.comparing.values import Change
from server.comparing.words import Reader, Row
from server.schemas.comparisons import (
    Comparison,
    ComparisonState,
    NumberChange,
    OpTimeChange,
)

EXAMPLES = examples(
    "xprof-hub compare llama-8b/before llama-8b/after",
    "xprof-hub compare nightly/2026_01_30 nightly/2026_01_31 --fail-above 5%",
)
_STYLES = {"good": "green", "bad": "red", "quiet": ""}
_BASES = {"STEP": "of one step on one core", "PROFILE": "of the whole profile on one core"}
_STANDINGS = {"ADDED": "new", "REMOVED": "gone", "UNLISTED": "below the list"}
_Side = Annotated[str, typer.Argument(metavar="RUN/SESSION", help="Ids of run and session.")]


def compare(
    left: _Side,
    right: _Side,
    fail_above: Annotated[
        str | None,
        typer.Option(
            metavar="PERCENT",
            help="Exit with 7 if the average step takes so many percent longer on the right.",
        ),
    ] = None,
    ops: Annotated[int, typer.Option(min=0, max=600, help="At most so many operations.")] = 20,
    wait: Annotated[
        float,
        typer.Option(min=0, metavar="SECONDS", help="How long to wait for figures to be made."),
    ] = 600.0,
    url: UrlOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Compare two sessions of any runs: step times, operations, devices, memory, configuration."""
    limit = None if fail_above is None else _percent(fail_above)
    for side in (left, right):
        split_session(side)
    with connected(url, token) as client, progress_bar("figures are being made") as advance:
        found = client.comparisons.get(
            left,
            right,
            op_limit=ops,
            wait_seconds=wait,
            on_wait=lambda _: advance("figures are being made", 0, 0),
        )
    if as_json:
        print_json(found)
    elif found.state is ComparisonState.READY:
        _print(found)
    _require_ready(found)
    if limit is not None:
        _require_speed(found, limit)


def _percent(text: str) -> float:
    """The number of `5%` or `5`.

    Raises:
        typer.BadParameter: it is none, or negative.
    """
    try:
        value = float(text.strip().removesuffix("%"))
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= 0):
        raise typer.BadParameter("Write it as 5%, for example.", param_hint="--fail-above")
    return value


def _require_ready(found: Comparison) -> None:
    """Says why there is nothing to compare, and ends."""
    if found.state is ComparisonState.READY:
        return
    hints = [
        f"{place}: {side.problem or 'figures are being made'}"
        for place, side in (("left", found.left), ("right", found.right))
        if side.state is not ComparisonState.READY
    ]
    if found.state is ComparisonState.PENDING:
        raise fail(
            "The figures were not made in time. Ask again, or with a longer --wait.", hints=hints
        )
    raise fail("A session has no figures.", hints=hints)


def _require_speed(found: Comparison, limit: float) -> None:
    """Ends with a status of its own when steps take longer than they may."""
    change = found.step_time.average_ms if found.step_time else NumberChange()
    if change.percent is None:
        raise fail("A session has no step times, so --fail-above can't be judged.")
    if change.percent > limit:
        raise fail(
            f"Steps take {change.percent:.2f} % longer on the right, more than {limit:g} %.",
            ExitStatus.SLOWER,
        )
    say(f"Steps take {change.percent:+.2f} % on the right; {limit:g} % may be.")


def _print(found: Comparison) -> None:
    print_table(("", "LEFT", "RIGHT", "DIFFERENCE", ""), [*_sides(found), *_figures(found)])
    if found.ops:
        basis = _BASES.get(found.op_basis or "", "")
        typer.echo(f"\nOperations, self time {basis}, the largest changes first:")
        columns = ("LEFT", "RIGHT", "DIFFERENCE", "", "OPERATION")
        print_table(columns, [_op(op) for op in found.ops])
    if found.configs:
        typer.echo("\nConfiguration that differs:")
        rows = [(line.name, line.left or "", line.right or "") for line in found.configs]
        print_table(("SETTING", "LEFT", "RIGHT"), rows)
    for sentence in found.warnings:
        say(f"Note: {sentence}")


def _sides(found: Comparison) -> list[tuple[str | Text, ...]]:
    left, right = found.left, found.right
    return [
        ("Run", left.run_display_name, right.run_display_name, "", ""),
        ("Session", left.display_name, right.display_name, "", ""),
        ("Device", left.device_type or "", right.device_type or "", "", ""),
    ]


def _figures(found: Comparison) -> list[tuple[str | Text, ...]]:
    steps, use, memory = found.step_time, found.utilisation, found.memory
    rows = []
    if steps is not None:
        rows += [
            _row("Step, average", steps.average_ms, words.milliseconds, -1),
            _row("Step, median", steps.median_ms, words.milliseconds, -1),
            _row("Step, 90th percentile", steps.p90_ms, words.milliseconds, -1),
            _row("Steps", steps.count, words.count, 0),
        ]
    if use is not None:
        rows += [
            _row("Duty cycle", use.duty_cycle_percent, words.percentage, 1),
            _row("Idle", use.idle_percent, words.percentage, -1),
            _row("Matrix units", use.matrix_units_percent, words.percentage, 1),
            _row("HBM bandwidth", use.memory_bandwidth_percent, words.percentage, 0),
        ]
    if memory is not None:
        rows.append(_row("Peak memory", memory.peak_bytes, words.size, -1))
    return [_cells(row) for row in rows if row is not None]


def _row(label: str, change: NumberChange, read: Reader, better: int) -> Row | None:
    return words.row(label, Change(change.left, change.right), read, better=better)


def _cells(row: Row) -> tuple[str | Text, ...]:
    style = _STYLES[row.mood]
    return (row.label, row.left, row.right, Text(row.difference, style), Text(row.percent, style))


def _op(op: OpTimeChange) -> tuple[str | Text, ...]:
    change = Change(op.time_us.left, op.time_us.right)
    scale, style = words.scale_of(change), _STYLES[words.mood_of(change, -1)]
    standing = _STANDINGS.get(op.standing, words.percent_text(change.percent))
    return (
        words.side_text(change.left, words.microseconds, scale),
        words.side_text(change.right, words.microseconds, scale),
        Text(words.signed(change.difference, words.microseconds, scale), style),
        Text(standing, style),
        op.name,
    )
