"""How commands print: JSON as the API says it, and tables and fields for people.

A table is as wide as its contents in a file or pipe. On a terminal it is no wider than that: words stay whole
where there is room, and columns that say nothing are left out; where even that is too wide, each row becomes
a block of lines. What a person copies, the first column, is never cut off nor broken. Colours are Rich's
business: terminals only, none with `NO_COLOR`.
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
_LONGEST_WHOLE = 20
"""Longest word that other columns make room for, before it is broken."""
_STATE_STYLES = {
    "active": "green",
    "complete": "green",
    "completed": "green",
    "done": "green",
    "failed": "red",
    "lost": "yellow",
    "forbidden": "yellow",
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
    optional: Sequence[str] = (),
) -> None:
    """Prints resources as JSON, or as a table with one row each.

    Args:
        found: the resources; lines are printed as they come, all else when all have come.
        as_json: whether to print one JSON list.
        columns: heads of the table.
        row_of: cells of a resource's row.
        as_lines: whether to print a JSON object a line.
        optional: as `print_table`.
    """
    if as_lines:
        for resource in found:
            typer.echo(plain_json(json.dumps(_plain(resource), ensure_ascii=False)))
    elif as_json:
        print_json(list(found))
    else:
        print_table(columns, [row_of(resource) for resource in found], optional)


def print_table(
    columns: Sequence[str], rows: Sequence[Sequence[str | Text]], optional: Sequence[str] = ()
) -> None:
    """Prints a table; no cell is ever cut off, and none is taken for markup.

    Args:
        columns: heads.
        rows: cells.
        optional: heads of columns that are left out, in this order, where a terminal is so narrow that words
            would be broken.
    """
    rows = [[_harmless(cell) for cell in row] for row in rows]
    terminal = Console().width if sys.stdout.isatty() else None
    if terminal is not None:
        columns, rows = _telling(columns, rows)
        columns, rows = _fitting(columns, rows, optional, terminal)
    widths = column_widths(columns, rows, terminal)
    width = sum(widths) + _GAP * (len(columns) - 1)
    if terminal is not None and width > terminal and rows:
        _print_blocks(columns, rows)
        return
    console = Console(width=width)
    with console.capture() as capture:
        console.print(make_table(columns, rows, widths))
    # Rich fills the last column up with blanks, which nobody wants in a file.
    typer.echo("\n".join(line.rstrip() for line in capture.get().splitlines()))


def make_table(
    columns: Sequence[str], rows: Sequence[Sequence[str | Text]], widths: Sequence[int]
) -> Table:
    """The table for Rich to print, in columns of these widths."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column, width in zip(columns, widths, strict=True):
        table.add_column(column, overflow="fold", width=width)
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else Text(cell) for cell in row))
    return table


def column_widths(
    columns: Sequence[str], rows: Sequence[Sequence[str | Text]], terminal: int | None
) -> list[int]:
    """How wide columns are on a terminal of this width, or where there is none.

    They are wider than the terminal only where the first one, and a little of each other, does not fit:
    rather a line that the terminal breaks than an id that was cut off.
    """
    cells = [list(columns), *([_text(cell) for cell in row] for row in rows)]
    whole = [max(cell_len(row[number]) for row in cells) for number in range(len(columns))]
    if terminal is None:
        return whole
    room = terminal - _GAP * (len(columns) - 1)
    least = _least(whole)
    return _grown(_grown(least, _unbroken(cells, least), room), whole, room)


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


def _plain(resource: ApiModel) -> dict[str, object]:
    # What was not sent is not printed, and what was sent as null is.
    return resource.model_dump(mode="json", by_alias=True, exclude_unset=True)


def _harmless(cell: str | Text) -> str | Text:
    # A cell is one line; a state has been chosen from words of ours, or is shown as it was sent.
    if isinstance(cell, Text):
        return Text(plain(cell.plain), style=cell.style)
    return plain(cell)


def _print_blocks(columns: Sequence[str], rows: Sequence[Sequence[str | Text]]) -> None:
    for number, row in enumerate(rows):
        if number:
            print_line()
        print_fields([(column, _text(cell)) for column, cell in zip(columns, row, strict=True)])


def _telling(
    columns: Sequence[str], rows: Sequence[Sequence[str | Text]]
) -> tuple[list[str], list[list[str | Text]]]:
    """The first column, and of the others those in which any row says something; all of an empty table."""
    kept = [
        number
        for number in range(len(columns))
        if number == 0 or not rows or any(_text(row[number]) for row in rows)
    ]
    return [columns[number] for number in kept], [[row[number] for number in kept] for row in rows]


def _fitting(
    columns: Sequence[str],
    rows: Sequence[Sequence[str | Text]],
    optional: Sequence[str],
    terminal: int,
) -> tuple[Sequence[str], Sequence[Sequence[str | Text]]]:
    """The table without as many of the optional columns as are in the way of whole words."""
    left_out = []
    for name in optional:
        if name not in columns or _fits_unbroken(columns, rows, terminal):
            continue
        number = columns.index(name)
        columns = [*columns[:number], *columns[number + 1 :]]
        rows = [[*row[:number], *row[number + 1 :]] for row in rows]
        left_out.append(name)
    if left_out:
        say(
            f"Without {' and '.join(left_out)}, for which this terminal is too narrow; --json has it all."
        )
    return columns, rows


def _fits_unbroken(
    columns: Sequence[str], rows: Sequence[Sequence[str | Text]], terminal: int
) -> bool:
    cells = [list(columns), *([_text(cell) for cell in row] for row in rows)]
    whole = [max(cell_len(row[number]) for row in cells) for number in range(len(columns))]
    width = sum(_unbroken(cells, _least(whole))) + _GAP * (len(columns) - 1)
    return width <= terminal


def _least(whole: Sequence[int]) -> list[int]:
    """How narrow columns may become: the first one never."""
    return [whole[0], *(min(width, _NARROWEST) for width in whole[1:])]


def _unbroken(cells: Sequence[Sequence[str]], least: Sequence[int]) -> list[int]:
    """How wide columns have to be for all words to be whole."""
    words = [max(_longest_word(row[number]) for row in cells) for number in range(len(least))]
    return [max(pair) for pair in zip(least, words, strict=True)]


def _grown(widths: Sequence[int], goals: Sequence[int], room: int) -> list[int]:
    """Widths that have come as near to their goals as there is room, the narrowest first."""
    grown = list(widths)
    for _ in range(room - sum(grown)):
        below = [number for number, width in enumerate(grown) if width < goals[number]]
        if not below:
            break
        grown[min(below, key=lambda number: grown[number])] += 1
    return grown


def _longest_word(text: str) -> int:
    longest = max((cell_len(word) for word in text.split()), default=0)
    return min(longest, _LONGEST_WHOLE)


def _text(cell: str | Text) -> str:
    return cell.plain if isinstance(cell, Text) else cell
