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


LONG = {"rows": [["n"], *([number] for number in range(3000))], "options": {"height": 300}}
"""A table that is much longer than its view."""

MOST_ROWS = 200
"""Rows of a long table that may be in the page at once: the view, and what is near it."""


def test_long_table_holds_only_the_rows_near_the_view(modules: Modules) -> None:
    modules.run(SETUP, LONG)
    drawn = modules.page.locator("tbody tr[data-row]")
    scroll = modules.page.locator(".xh-table-scroll")
    assert 0 < drawn.count() < MOST_ROWS
    for share, row in ((1.0, 2999), (0.5, 1500), (0.0, 0)):
        scroll.evaluate(
            "(element, share) => element.scrollTo(0, element.scrollHeight * share)", share
        )
        modules.page.locator(f'tbody tr[data-row="{row}"]').wait_for()
    modules.page.wait_for_function(
        f"document.querySelectorAll('tbody tr[data-row]').length < {MOST_ROWS}"
    )


def test_long_table_is_as_high_as_all_its_rows(modules: Modules) -> None:
    script = f"""{SETUP}
      const row = box.querySelector('tbody tr[data-row]').getBoundingClientRect().height;
      return box.querySelector('table').getBoundingClientRect().height / row;
    """
    assert modules.run(script, LONG) == pytest.approx(3001, rel=0.01)


def test_sorting_a_long_table_builds_few_rows(modules: Modules) -> None:
    script = f"""{SETUP}
      box.querySelectorAll('th button')[0].click();
      box.querySelectorAll('th button')[0].click();
      const built = [...box.querySelectorAll('tbody tr[data-row]')];
      return [built.length, built[0].textContent, document.activeElement.textContent];
    """
    built, first, focused = modules.run(script, LONG)
    assert 0 < built < MOST_ROWS
    assert first == "2,999"
    assert focused == "n"


def test_keys_walk_through_rows_that_are_not_in_the_page_yet(modules: Modules) -> None:
    modules.run(f"{SETUP} box.querySelector('tr[data-row]').focus();", LONG)
    keyboard = modules.page.keyboard
    focused = "document.activeElement.dataset.row"
    for key, row in (("ArrowDown", "1"), ("PageDown", "11"), ("End", "2999"), ("ArrowUp", "2998")):
        keyboard.press(key)
        assert modules.page.evaluate(focused) == row
    keyboard.press("Enter")
    assert modules.page.locator('tr[aria-selected="true"]').get_attribute("data-row") == "2998"


def test_table_says_where_its_rows_and_its_order_are(modules: Modules) -> None:
    script = f"""{SETUP}
      box.querySelectorAll('th button')[1].click();
      const heads = [...box.querySelectorAll('th')].map((cell) => cell.ariaSort);
      return [heads, box.querySelector('table').getAttribute('aria-rowcount'),
              [...box.querySelectorAll('tbody tr')].map((row) => row.getAttribute('aria-rowindex'))];
    """
    heads, count, indexes = modules.run(script, {"rows": ROWS})
    assert heads == [None, "ascending"]
    assert count == "4"
    assert indexes == ["2", "3", "4"]


def test_long_text_is_shown_whole_in_a_selected_row(modules: Modules) -> None:
    rows = [["op"], ["fusion " * 200]]
    script = f"""{SETUP}
      const text = () => {{
        const long = box.querySelector('.xh-long');
        return long.clientHeight >= Math.min(long.scrollHeight, innerHeight * 0.6) - 1;
      }};
      const before = text();
      box.querySelector('tbody tr').click();
      return [before, text(), box.querySelector('.xh-long').textContent.length];
    """
    assert modules.run(script, {"rows": rows}) == [False, True, 1400]


def test_empty_table_says_so_calmly(modules: Modules) -> None:
    script = f"{SETUP} return box.querySelector('tbody').textContent;"
    assert modules.run(script, {"rows": [["op", "time"]]}) == "Nothing of this kind was recorded"


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
