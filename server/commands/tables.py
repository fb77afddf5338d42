"""How commands print: JSON as the API says it, and tables and fields for people.

A table is as wide as its contents in a file or pipe, and as the terminal on one. What a person copies, the
first column, is never cut off nor broken. Colours are Rich's business: terminals only, none with `NO_COLOR`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import TypeVar

import typer
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from server.commands.terminal import plain, plain_json, print_line
from server.schemas import ApiModel

R = TypeVar("R", bound=ApiModel)
_GAP = 2
"""Blanks between columns."""
_NARROWEST = 8
"""Least width of a column that may be folded."""
_STATE_STYLES = {
    "active": "green",
    "complete": "green",
    "completed": "green",
    "done": "green",
    "failed": "red",
    "lost": "yellow",
    "expired": "dim",
    "revoked": "dim",
    "deleted": "dim",
}


def print_json(value: ApiModel | Sequence[ApiModel]) -> None:
    """Prints resources as the API sent them."""
    content = _plain(value) if isinstance(value, ApiModel) else [_plain(entry) for entry in value]
    typer.echo(plain_json(json.dumps(content, indent=2, ensure_ascii=False)))


def print_list(
    found: Iterable[R],
    as_json: bool,
    columns: Sequence[str],
    row_of: Callable[[R], Sequence[str | Text]],
    as_lines: bool = False,
) -> None:
    """Prints resources as JSON, or as a table with one row each.

    Args:
        found: the resources; lines are printed as they come, all else when all have come.
        as_json: whether to print one JSON list.
        columns: heads of the table.
        row_of: cells of a resource's row.
        as_lines: whether to print a JSON object a line.
    """
    if as_lines:
        for resource in found:
            typer.echo(plain_json(json.dumps(_plain(resource), ensure_ascii=False)))
    elif as_json:
        print_json(list(found))
    else:
        print_table(columns, [row_of(resource) for resource in found])


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str | Text]]) -> None:
    """Prints a table; no cell is ever cut off, and none is taken for markup."""
    rows = [[_harmless(cell) for cell in row] for row in rows]
    terminal = Console().width if sys.stdout.isatty() else None
    console = Console(width=table_width(columns, rows, terminal))
    with console.capture() as capture:
        console.print(make_table(columns, rows))
    # Rich fills the last column up with blanks, which nobody wants in a file.
    typer.echo("\n".join(line.rstrip() for line in capture.get().splitlines()))


def make_table(columns: Sequence[str], rows: Sequence[Sequence[str | Text]]) -> Table:
    """The table for Rich to print."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for number, column in enumerate(columns):
        is_first = number == 0
        least = _widths(columns, rows)[0] if is_first else None
        table.add_column(column, overflow="fold", no_wrap=is_first, min_width=least)
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else Text(cell) for cell in row))
    return table


def table_width(
    columns: Sequence[str], rows: Sequence[Sequence[str | Text]], terminal: int | None
) -> int:
    """How wide a table is made on a terminal of this width, or where there is none."""
    widths = _widths(columns, rows)
    gaps = _GAP * (len(columns) - 1)
    if terminal is None:
        return sum(widths) + gaps
    # Rather a line that the terminal breaks than an id that was cut off.
    others = sum(min(width, _NARROWEST) for width in widths[1:])
    return max(terminal, widths[0] + others + gaps)


def print_fields(fields: Sequence[tuple[str, str]]) -> None:
    """Prints names and values, one a line; empty ones are left out."""
    told = [(name, value) for name, value in fields if value]
    width = max((len(name) for name, _ in told), default=0)
    for name, value in told:
        print_line(f"{name:<{width}}  {value}")


def say(sentence: str) -> None:
    """Says what was done, aside from the answer."""
    typer.echo(plain(sentence), err=True)


def state_text(state: str | None) -> Text:
    """A state in lower case, coloured on terminals."""
    word = (state or "").lower()
    return Text(word, style=_STATE_STYLES.get(word, ""))


def moment(value: datetime | None, missing: str = "") -> str:
    """A moment to the minute in UTC."""
    return value.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC") if value else missing


def size(count: int) -> str:
    """A number of bytes for people."""
    amount = float(count)
    for unit in ("B", "KiB", "MiB"):
        if amount < 1024:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} GiB"


def _plain(resource: ApiModel) -> dict[str, object]:
    # What was not sent is not printed, and what was sent as null is.
    return resource.model_dump(mode="json", by_alias=True, exclude_unset=True)


def _harmless(cell: str | Text) -> str | Text:
    # A cell is one line; a state has been chosen from words of ours, or is shown as it was sent.
    if isinstance(cell, Text):
        return Text(plain(cell.plain), style=cell.style)
    return plain(cell)


def _widths(columns: Sequence[str], rows: Sequence[Sequence[str | Text]]) -> list[int]:
    cells = [list(columns), *([_text(cell) for cell in row] for row in rows)]
    return [max(cell_len(row[number]) for row in cells) for number in range(len(columns))]


def _text(cell: str | Text) -> str:
    return cell.plain if isinstance(cell, Text) else cell
