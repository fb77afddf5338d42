"""The table sorts, pages, selects, and shows every cell as text."""

from __future__ import annotations

import pytest

from tests.browser.modules import Modules

SETUP = """
  const box = document.getElementById('box');
  const {rows, options} = argument;
  const data = google.visualization.arrayToDataTable(rows);
  const table = new google.visualization.Table(box);
  table.draw(data, options ?? {});
  const cells = (index) => [...box.querySelectorAll(`tbody tr td:nth-child(${index})`)];
  const column = (index) => cells(index).map((cell) => cell.textContent);
"""

ROWS = [["op", "time"], ["dot", 3], ["add", 1], ["mul", 2]]


def test_click_on_a_heading_sorts_and_turns(modules: Modules) -> None:
    script = f"""{SETUP}
      const shown = [column(2)];
      for (let click = 0; click < 2; click++) {{
        box.querySelectorAll('th button')[1].click();
        shown.push(column(2));
      }}
      return [...shown, table.getSortInfo()];
    """
    sort = {"column": 1, "ascending": False, "sortedIndexes": [0, 2, 1]}
    expected = [["3", "1", "2"], ["1", "2", "3"], ["3", "2", "1"], sort]
    assert modules.run(script, {"rows": ROWS}) == expected


def test_sort_by_event_leaves_the_rows_to_xprof(modules: Modules) -> None:
    script = f"""{SETUP}
      const heard = [];
      const hear = ({{column, ascending}}) => heard.push([column, ascending]);
      google.visualization.events.addListener(table, 'sort', hear);
      box.querySelectorAll('th button')[1].click();
      return [heard, column(1)];
    """
    options = {"sort": "event", "sortColumn": 0, "sortAscending": True}
    answer = modules.run(script, {"rows": ROWS, "options": options})
    assert answer == [[[1, True]], ["dot", "add", "mul"]]


def test_pages_show_their_rows(modules: Modules) -> None:
    rows = [["n"], *([number] for number in range(25))]
    script = f"""{SETUP}
      const first = column(1).length;
      box.querySelector('[aria-label="Next page"]').click();
      box.querySelector('[aria-label="Next page"]').click();
      return [first, column(1), box.querySelector('.xh-pager span').textContent];
    """
    argument = {"rows": rows, "options": {"page": "enable", "pageSize": 10}}
    expected = [10, ["20", "21", "22", "23", "24"], "21\u201325 of 25"]
    assert modules.run(script, argument) == expected


def test_click_on_a_row_selects_it(modules: Modules) -> None:
    script = f"""{SETUP}
      const heard = [];
      google.visualization.events.addListener(table, 'select', () => heard.push(table.getSelection()));
      box.querySelectorAll('tbody tr')[1].click();
      box.querySelectorAll('tbody tr')[1].click();
      return heard;
    """
    assert modules.run(script, {"rows": ROWS}) == [[{"row": 1, "column": None}], []]


def test_long_table_is_drawn_as_it_is_scrolled(modules: Modules) -> None:
    rows = [["n"], *([number] for number in range(3000))]
    modules.run(SETUP, {"rows": rows, "options": {"height": 300}})
    drawn = modules.page.locator("tbody tr")
    assert 0 < drawn.count() < 3000
    scroll = modules.page.locator(".xh-table-scroll")
    before = drawn.count()
    scroll.evaluate("element => element.scrollTo(0, element.scrollHeight)")
    modules.page.locator("tbody tr").nth(before).wait_for()


@pytest.mark.parametrize(
    ("text", "elements", "shown"),
    [
        ("<img src=x onerror=alert(1)>", 0, "<img src=x onerror=alert(1)>"),
        ("<b>bold</b>", 0, "<b>bold</b>"),
        ("f32[2]{0} <unknown>", 0, "f32[2]{0} <unknown>"),
        ("a &lt; b", 0, "a &lt; b"),
        ('<a href="javascript:alert(1)" target="_blank">x</a>', 0, "x"),
        ('<a href="https://other.example/" target="_blank">x</a>', 0, "x"),
        ('<a href="/?tool=graph_viewer" target="_blank"><i>op</i></a>', 1, "<i>op</i>"),
        ("<div class='source-info-cell' title='stack'>model.py:3</div>", 1, "model.py:3"),
        ('12.0<font color="red">(+3%)</font>', 1, "12.0(+3%)"),
        ("<font color=\"red\"><img src=x>(+3%)</font>", 0, "<font color=\"red\"><img src=x>(+3%)</font>"),
    ],
)  # fmt: skip
def test_cell_shows_only_markup_that_xprof_writes(
    modules: Modules, text: str, elements: int, shown: str
) -> None:
    script = f"""{SETUP}
      const cell = box.querySelector('td');
      return [cell.querySelectorAll('*').length, cell.textContent];
    """
    argument = {"rows": [["op"], [text]], "options": {"allowHtml": True}}
    assert modules.run(script, argument) == [elements, shown]


def test_link_in_a_cell_leads_under_the_link(modules: Modules) -> None:
    text = '<a href="/?tool=graph_viewer&run=r&node_name=dot#profile" target="_blank">dot</a>'
    script = f"{SETUP} return box.querySelector('td a').getAttribute('href');"
    argument = {"rows": [["op"], [text]], "options": {"allowHtml": True}}
    expected = "/s/token/data/plugin/profile/?run=r&node_name=dot&tag=graph_viewer"
    assert modules.run(script, argument) == expected


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<div>Order: 3<br>Size: 2.0<br>HLO: dot\n </div>", "Order: 3\nSize: 2.0\nHLO: dot"),
        ("<div><b>dot</b></div><div>1 <span style=\"color: #fff\">ms</span></div>", "dot\n1 ms"),
        ("<div>HLO: <img src=x onerror=alert(1)></div>", "HLO: <img src=x onerror=alert(1)>"),
    ],
)  # fmt: skip
def test_tooltip_keeps_only_the_text(modules: Modules, html: str, text: str) -> None:
    script = "return (await load('charts/markup.js')).tooltipText(argument);"
    assert modules.run(script, html) == text


@pytest.mark.parametrize(
    ("address", "inside"),
    [
        ("//s/token//data/plugin/profile/data?tag=x", None),
        ("{origin}//s/token//data/plugin/profile/data?tag=x", "{base}data?tag=x"),
        ("{origin}?tool=graph_viewer&run=r#profile", "{base}?run=r&tag=graph_viewer"),
        ("/data/plugin/profile/data?tag=memory_viewer", "{base}data?tag=memory_viewer"),
        ("/roofline_model/run?run=r", "{base}?run=r&tag=roofline_model"),
        ("data?tag=x", "{base}data?tag=x"),
        ("https://ui.perfetto.dev?hideSidebar=true", None),
        ("about:blank", "about:blank"),
    ],
)
def test_addresses_of_xprof_stay_under_the_link(
    modules: Modules, address: str, inside: str | None
) -> None:
    origin = modules.run("return location.origin;")
    base = "/s/token/data/plugin/profile/"
    script = "return (await load('paths.js')).insidePrefix(argument);"
    expected = None if inside is None else inside.format(base=base)
    assert modules.run(script, address.format(origin=origin)) == expected
