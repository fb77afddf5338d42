"""Tables for people, as they look: golden ones at fixed widths."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from server.commands.tables import make_table, size, state_text, table_width

COLUMNS = ("RUN", "NAME", "STATE")
ROWS = (
    ("llama-8b-2026-01-31", "Llama 8B with a name that goes on and on", state_text("ACTIVE")),
    ("m\u00fc", "[bold]not markup[/bold]", state_text("FAILED")),
)


def rendered(width: int | None, *, is_terminal: bool = False, no_color: bool = False) -> str:
    stream = io.StringIO()
    console = Console(
        file=stream,
        width=table_width(COLUMNS, ROWS, width),
        force_terminal=is_terminal,
        no_color=no_color,
        color_system="standard" if is_terminal else None,
    )
    console.print(make_table(COLUMNS, ROWS))
    return stream.getvalue()


def test_where_there_is_no_terminal_every_row_is_one_line() -> None:
    assert [line.rstrip() for line in rendered(None).splitlines()] == [
        "RUN                  NAME                                      STATE",
        "llama-8b-2026-01-31  Llama 8B with a name that goes on and on  active",
        "m\u00fc                   [bold]not markup[/bold]                   failed",
    ]


def test_on_a_narrow_terminal_names_are_folded_and_ids_are_whole() -> None:
    assert [line.rstrip() for line in rendered(50).splitlines()] == [
        "RUN                  NAME                   STATE",
        "llama-8b-2026-01-31  Llama 8B with a name   active",
        "                     that goes on and on",
        "m\u00fc                   [bold]not              failed",
        "                     markup[/bold]",
    ]


@pytest.mark.parametrize("width", [1, 10, 30])
def test_an_id_is_whole_even_where_nothing_fits(width: int) -> None:
    lines = rendered(width).splitlines()
    assert any(line.startswith("llama-8b-2026-01-31 ") for line in lines)


def test_states_are_coloured_on_a_terminal_only() -> None:
    assert "\x1b[32mactive" in rendered(80, is_terminal=True)
    assert "\x1b[31mfailed" in rendered(80, is_terminal=True)
    assert "\x1b[3" not in rendered(80, is_terminal=True, no_color=True)
    assert "\x1b" not in rendered(80)


def test_a_long_list_has_room_for_its_longest_cell() -> None:
    rows = [("x" * 300, "y" * 300)]
    assert table_width(("A", "B"), rows, None) == 602


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1536, "1.5 KiB"),
        (5 << 20, "5.0 MiB"),
        (3 << 40, "3072.0 GiB"),
    ],
)
def test_sizes(count: int, text: str) -> None:
    assert size(count) == text
