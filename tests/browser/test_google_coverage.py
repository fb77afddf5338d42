"""Everything of `google.visualization` that the installed XProf uses exists, and means the same."""

from __future__ import annotations

import re

import pytest

from server.ui.xprof_files import find_xprof_static
from tests.browser.modules import Modules

# The methods that Google documents for DataTable and DataView.
TABLE_METHODS = [
    "addColumn", "addRow", "addRows", "clone", "getColumnId", "getColumnIndex", "getColumnLabel",
    "getColumnPattern", "getColumnProperties", "getColumnProperty", "getColumnRange", "getColumnRole",
    "getColumnType", "getDistinctValues", "getFilteredRows", "getFormattedValue", "getNumberOfColumns",
    "getNumberOfRows", "getProperties", "getProperty", "getRowProperties", "getRowProperty",
    "getSortedRows", "getTableProperties", "getTableProperty", "getValue", "insertColumn",
    "insertRows", "removeColumn", "removeColumns", "removeRow", "removeRows", "setCell",
    "setColumnLabel", "setColumnProperties", "setColumnProperty", "setFormattedValue", "setProperties",
    "setProperty", "setRowProperties", "setRowProperty", "setTableProperties", "setTableProperty",
    "setValue", "sort", "toJSON",
]  # fmt: skip
VIEW_METHODS = [
    "getColumnId", "getColumnIndex", "getColumnLabel", "getColumnProperty", "getColumnRange",
    "getColumnRole", "getColumnType", "getDistinctValues", "getFilteredRows", "getFormattedValue",
    "getNumberOfColumns", "getNumberOfRows", "getProperty", "getSortedRows", "getTableColumnIndex",
    "getTableProperty", "getTableRowIndex", "getValue", "getViewColumnIndex", "getViewColumns",
    "getViewRowIndex", "getViewRows", "hideColumns", "hideRows", "setColumns", "setRows",
    "toDataTable", "toJSON",
]  # fmt: skip
CHART_METHODS = ["draw", "clearChart", "getSelection", "setSelection"]


@pytest.fixture(scope="module")
def bundle() -> str:
    """XProf's front end, as text."""
    return (find_xprof_static() / "bundle.js").read_text(encoding="utf-8")


def used(bundle: str, methods: list[str]) -> list[str]:
    """The methods whose name the bundle calls anywhere."""
    return [name for name in methods if f".{name}(" in bundle]


def missing(modules: Modules, paths: list[str]) -> list[str]:
    script = """
      const find = (path) => path.split('.').reduce((found, name) => found?.[name], globalThis);
      return argument.filter((path) => find(path) === undefined);
    """
    found: list[str] = modules.run(script, paths)
    return found


def test_every_name_that_the_bundle_uses_exists(modules: Modules, bundle: str) -> None:
    names = sorted(set(re.findall(r"google\.(?:charts|visualization)(?:\.[A-Za-z]+)+", bundle)))
    assert len(names) > 20
    assert missing(modules, names) == []


@pytest.mark.parametrize(
    ("kind", "methods"), [("DataTable", TABLE_METHODS), ("DataView", VIEW_METHODS)]
)
def test_every_method_that_the_bundle_calls_exists(
    modules: Modules, bundle: str, kind: str, methods: list[str]
) -> None:
    called = used(bundle, methods)
    assert len(called) > 10
    paths = [f"google.visualization.{kind}.prototype.{name}" for name in called]
    assert missing(modules, paths) == []


def test_every_class_can_do_what_charts_can(modules: Modules) -> None:
    kinds = [
        "AreaChart", "BarChart", "BubbleChart", "CandlestickChart", "ColumnChart", "ComboChart",
        "Histogram", "LineChart", "PieChart", "ScatterChart", "SteppedAreaChart", "Table",
    ]  # fmt: skip
    paths = [
        f"google.visualization.{kind}.prototype.{name}" for kind in kinds for name in CHART_METHODS
    ]
    assert missing(modules, paths) == []


def test_every_event_that_the_bundle_listens_to_is_fired(bundle: str, modules: Modules) -> None:
    names = set(re.findall(r'events\.addListener\([\w.]+,"(\w+)"', bundle))
    assert names == {"select", "sort", "ready", "click", "onmouseover"}
    script = """
      const box = document.getElementById('box');
      box.style.cssText = 'position: fixed; left: 0; top: 0; width: 600px; height: 300px';
      const {events, arrayToDataTable} = google.visualization;
      const data = arrayToDataTable([['op', 'v'], ['a', 1], ['b', 2]]);
      const heard = new Set();
      const listen = (source) => {
        for (const name of argument) events.addListener(source, name, () => heard.add(name));
      };
      const chart = new google.visualization.ColumnChart(box);
      listen(chart);
      chart.draw(data);
      const {x, y, width, height} = box.querySelector('.xh-bar').getBoundingClientRect();
      const at = {bubbles: true, clientX: x + width / 2, clientY: y + height / 2};
      box.firstElementChild.dispatchEvent(new MouseEvent('mousemove', at));
      box.firstElementChild.dispatchEvent(new MouseEvent('click', at));
      const table = new google.visualization.Table(box);
      listen(table);
      table.draw(data);
      box.querySelector('th button').click();
      await new Promise((resolve) => setTimeout(resolve));
      return [...heard].sort();
    """
    assert modules.run(script, sorted(names)) == sorted(names)


DATA = [["op", "time", "kind"], ["dot", 3, "mxu"], ["add", 1, "vpu"], ["mul", 2, "vpu"]]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        # What Google's reference says of each, for what XProf calls it with.
        ("(view.setRows([2, 0]), [view.getViewRowIndex(2), view.getViewRowIndex(1)])", [0, -1]),
        ("(view.setRows(1, 2), view.getTableRowIndex(0))", 1),
        ("(view.setColumns([2, 'time']), [view.getViewColumnIndex(1), view.getTableColumnIndex(0)])", [1, 2]),
        ("(view.hideColumns([1]), [view.getViewColumns(), view.getViewColumnIndex(1)])", [[0, 2], -1]),
        ("(view.setRows(view.getSortedRows({column: 1})), view.getDistinctValues(2))", ["mxu", "vpu"]),
        ("(view.setRows([1]), view.toDataTable().getNumberOfRows())", 1),
        ("table.getColumnRange(1)", {"min": 1, "max": 3}),
        ("table.getSortedRows([{column: 2, desc: true}, 1])", [1, 2, 0]),
        ("table.addRows([['div', 4, 'vpu'], ['neg', 5, 'vpu']])", 4),
        ("(table.setCell(0, 1, 9, '9 us'), table.getFormattedValue(0, 1))", "9 us"),
        ("(table.setCell(0, 1, 9, '9 us', {className: 'x'}), table.getProperty(0, 1, 'className'))", "x"),
        ("(table.insertColumn(0, 'number', 'rank'), table.getValue(0, 1))", "dot"),
        ("(table.sort([{column: 1}]), table.getValue(0, 0))", "add"),
        ("google.visualization.data.sum([1, null, 2])", 3),
        ("JSON.parse(table.toJSON()).rows[1].c[0].v", "add"),
    ],
)  # fmt: skip
def test_methods_mean_what_google_says(modules: Modules, expression: str, expected: object) -> None:
    script = f"""
      const table = google.visualization.arrayToDataTable(argument);
      const view = new google.visualization.DataView(table);
      return {expression};
    """
    assert modules.run(script, DATA) == expected


@pytest.mark.parametrize(
    ("options", "text"),
    [
        # An explicit lower limit, as XProf's axes have it.
        ({"vAxis": {"minValue": 0, "viewWindow": {"min": 0, "max": 100}}}, ["0", "100"]),
        ({"vAxis": {"format": "###.####ms"}}, ["0ms"]),
        ({"vAxis": {"format": "###.###'%'"}}, ["0%"]),
        ({"hAxis": {"textPosition": "none"}}, ["0"]),
    ],
)
def test_axis_options_show_on_the_axis(modules: Modules, options: object, text: list[str]) -> None:
    script = """
      const box = document.getElementById('box');
      box.style.cssText = 'width: 600px; height: 300px';
      const chart = new google.visualization.AreaChart(box);
      chart.draw(google.visualization.arrayToDataTable([['x', 'v'], [1, 3], [2, 4]]), argument);
      return [...box.querySelectorAll('svg > text')].map((one) => one.textContent);
    """
    shown = modules.run(script, options)
    assert set(text) <= set(shown)
