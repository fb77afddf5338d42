"""Tables for people, as they look: golden ones at fixed widths."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from server.commands.tables import column_widths, make_table, print_table, state_text

COLUMNS = ("RUN", "NAME", "STATE")
ROWS = (
    ("llama-8b-2026-01-31", "Llama 8B with a name that goes on and on", state_text("ACTIVE")),
    ("m\u00fc", "[bold]not markup[/bold]", state_text("FAILED")),
)


def rendered(width: int | None, *, is_terminal: bool = False, no_color: bool = False) -> str:
    stream = io.StringIO()
    widths = column_widths(COLUMNS, ROWS, width)
    console = Console(
        file=stream,
        width=sum(widths) + 4,
        force_terminal=is_terminal,
        no_color=no_color,
        color_system="standard" if is_terminal else None,
    )
    console.print(make_table(COLUMNS, ROWS, widths))
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
    assert column_widths(("A", "B"), rows, None) == [300, 300]


def test_words_are_whole_where_other_columns_have_room_to_give() -> None:
    columns = ("EVENT", "TIME", "VERB", "RESOURCE")
    rows = [("0123456789abcdef", "2026-11-30 12:56 UTC", "update", "r/a-word-of-27-letters-here")]
    # Three gaps of two blanks are a part of the width.
    assert column_widths(columns, rows, 50) == [16, 10, 6, 12]
    assert column_widths(columns, rows, 62) == [16, 14, 6, 20]
    assert column_widths(columns, rows, 75) == [16, 20, 6, 27]
    assert column_widths(columns, rows, 400) == [16, 20, 6, 27]
    assert column_widths(columns, rows, 10) == [16, 8, 6, 8]


def test_columns_without_a_word_are_left_out_on_a_terminal_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    columns, rows = ("LINK", "VIEW", "NOTE"), [("a", "", "x"), ("b", "", "")]
    print_table(columns, rows)
    assert capsys.readouterr().out == "LINK  VIEW  NOTE\na           x\nb\n"
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    print_table(columns, rows)
    assert capsys.readouterr().out.replace("\x1b[1m", "").replace("\x1b[0m", "") == (
        "LINK  NOTE\na     x\nb\n"
    )
    monkeypatch.setenv("COLUMNS", "8")
    print_table(("LINK", "STATE", "NOTE"), [("a" * 9, "active", ""), ("b", "", "n")])
    assert capsys.readouterr().out == f"LINK   {'a' * 9}\nSTATE  active\n\nLINK  b\nNOTE  n\n"
    print_table(columns, [])
    assert "VIEW" in capsys.readouterr().out


def test_less_important_columns_make_room_for_whole_words(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    columns = ("RUN/SESSION", "NAME", "KIND", "STATE", "ATTACHED", "LOCATION")
    session = "2026_01_31_12_00_00"
    place = f"gs://bucket/llama-8b/plugins/profile/{session}"
    row = (f"llama-8b/{session}", session, "scanned", "complete", "2026-01-31 12:00 UTC", place)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    shown = {}
    for width in ("75", "80", "200"):
        monkeypatch.setenv("COLUMNS", width)
        print_table(columns, [row], optional=("LOCATION", "KIND"))
        out, err = capsys.readouterr()
        shown[width] = re.sub(r"\x1b\[\d+m", "", out).splitlines(), err
    heads = {width: lines[0].split() for width, (lines, _) in shown.items()}
    # The words of the four are 28, 19, 8 and 10 wide, and KIND's 7; two blanks stand between columns.
    assert heads["75"] == ["RUN/SESSION", "NAME", "STATE", "ATTACHED"]
    assert heads["80"] == ["RUN/SESSION", "NAME", "KIND", "STATE", "ATTACHED"]
    assert heads["200"] == list(columns)
    assert all(lines[1].split()[:2] == [row[0], session] for lines, _ in shown.values())
    assert "Without LOCATION and KIND" in shown["75"][1]
    assert shown["200"][1] == ""


def test_where_there_is_no_terminal_no_column_is_left_out(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_table(("A", "B"), [("a" * 300, "b")], optional=("B",))
    assert capsys.readouterr().out.splitlines()[0].split() == ["A", "B"]
