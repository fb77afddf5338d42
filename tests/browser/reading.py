"""What a reader finds on a page: tables with their rows, charts with their marks, whole sentences.

Nothing here knows what should be there. What a mark is called in our SVG is named here only.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from playwright.sync_api import Locator, Page

from tests.browser.viewer import Viewer

Found = TypeVar("Found")

MARKS = ("area", "line", "bar", "point", "slice")
"""A chart's marks; columns and candles are bars, bubbles are points."""

_TABLES = """(selector) => [...document.querySelectorAll(selector)]
  .filter((table) => table.checkVisibility({ visibilityProperty: true }))
  .map((table) => ({
    headings: [...table.querySelectorAll("thead th")].map((cell) => cell.innerText.trim()),
    rows: [...table.querySelectorAll("tbody tr")]
      .map((row) => [...row.querySelectorAll("td")].map((cell) => cell.innerText.trim())),
    total: Number(table.getAttribute("aria-rowcount") ?? 0) - 1,
  }))"""

_CHARTS = """(marks) => [...document.querySelectorAll("svg.xh-chart")]
  .filter((chart) => chart.checkVisibility({ visibilityProperty: true }))
  .map((chart) => Object.fromEntries(
    marks.map((mark) => [mark, chart.querySelectorAll(`.xh-${mark}`).length])
      .filter(([, count]) => count)))"""


@dataclass(frozen=True)
class ShownTable:
    """A table as it stands on the page.

    Attributes:
        headings: what its columns are called.
        rows: the cells of the rows that are in the page; a long table has only those near the view there.
        total: how many rows it has, also those that are not in the page.
    """

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    total: int

    def column(self, heading: str) -> list[str]:
        """A column's cells from top to bottom."""
        at = list(self.headings).index(heading)
        return [row[at] for row in self.rows]

    def number(self, heading: str, row: int) -> float:
        """A cell's number; a per cent is a hundredth."""
        text = self.column(heading)[row].replace(",", "")
        return float(text[:-1]) / 100 if text.endswith("%") else float(text)


def tables_on(page: Page) -> list[ShownTable]:
    """Every visible table that has headings, in the page's order."""
    found: list[Any] = page.evaluate(_TABLES, "table")
    read = []
    for table in found:
        width = len(table["headings"])
        rows = [
            row for row in table["rows"] if len(row) == width
        ]  # others hold the room of rows out of view
        total = table["total"] if table["total"] >= 0 else len(rows)
        read.append(ShownTable(table["headings"], rows, total))
    return [table for table in read if table.headings]


def table_with(page: Page, heading: str) -> ShownTable:
    """The first table with this heading."""
    return next(table for table in tables_on(page) if heading in table.headings)


def charts_on(page: Page) -> list[Mapping[str, int]]:
    """How many marks of each kind every visible chart has, in the page's order."""
    found: list[Mapping[str, int]] = page.evaluate(_CHARTS, list(MARKS))
    return found


def chart_with(page: Page, *marks: str) -> Mapping[str, int]:
    """The first chart that has marks of all these kinds, once it is there."""
    return wait_until(
        page, lambda: next((chart for chart in charts_on(page) if set(marks) <= set(chart)), None)
    )


def open_tool(shown: Viewer, tool: str, ready: str, **query: str) -> Locator:
    """Opens a tool; returns the first element that matches `ready` once it and all answers are there."""
    shown.open(tool, **query)
    found = shown.wait_for(ready)
    shown.page.wait_for_load_state("networkidle")
    return found


def text_of(page: Page) -> str:
    """The page's visible text with single spaces, so that line breaks make no difference."""
    return " ".join(page.locator("body").inner_text().split())


def wait_for_text(page: Page, text: str) -> None:
    """Waits until the page says so, wherever it breaks the line."""
    wait_until(page, lambda: text in text_of(page) or None)


def wait_until(page: Page, look: Callable[[], Found | None], seconds: float = 60) -> Found:
    """What `look` finds, once it finds something.

    Raises:
        AssertionError: it found nothing in time.
    """
    # The page's policy forbids Playwright's own waiting for a condition, which evaluates text in the page.
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = look()
        if found is not None:
            return found
        page.wait_for_timeout(100)
    raise AssertionError(f"not there after {seconds:g} s; the page says: {text_of(page)[:2000]}")


def rows_of(table: Any, *columns: str) -> list[list[Any]]:
    """Values of XProf's data table, a list for each row, in the order of the named columns' ids."""
    at = [[column["id"] for column in table["cols"]].index(name) for name in columns]
    return [[row["c"][index].get("v") for index in at] for row in table["rows"]]


def properties_of(tables: Any) -> dict[str, str]:
    """The properties of all of an answer's tables in one; the first that has one counts."""
    merged: dict[str, str] = {}
    for table in tables:
        for name, value in (table.get("p") or {}).items():
            merged.setdefault(name, str(value))
    return merged
