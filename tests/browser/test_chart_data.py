"""The data model of the charts does what Google's documentation of DataTable, DataView and formats says."""

from __future__ import annotations

import pytest

from tests.browser.modules import Modules

TABLE = {
    "cols": [
        {"id": "op", "label": "Operation", "type": "string"},
        {"id": "time", "label": "Time (us)", "type": "number"},
        {"id": "kind", "label": "Kind", "type": "string"},
    ],
    "rows": [
        {"c": [{"v": "dot"}, {"v": 3.0}, {"v": "mxu"}]},
        {"c": [{"v": "add"}, {"v": 1.0, "f": "one"}, {"v": "vpu"}]},
        {"c": [{"v": "copy"}, {"v": None}, {"v": "vpu"}]},
        {"c": [{"v": "mul"}, {"v": 2.0}, {"v": "vpu"}]},
    ],
    "p": {"device_type": "TPU v5p"},
}

MAKE = "const table = new google.visualization.DataTable(argument);"


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("table.getNumberOfRows()", 4),
        ("table.getNumberOfColumns()", 3),
        ("table.getColumnIndex('time')", 1),
        ("table.getColumnIndex('Kind')", 2),
        ("table.getColumnIndex('nothing')", -1),
        ("table.getColumnLabel(1)", "Time (us)"),
        ("table.getColumnType(1)", "number"),
        ("table.getValue(2, 1)", None),
        ("table.getFormattedValue(1, 1)", "one"),
        ("table.getFormattedValue(2, 1)", ""),
        ("table.getTableProperty('device_type')", "TPU v5p"),
        ("table.getTableProperty('nothing')", None),
        ("table.getDistinctValues(2)", ["mxu", "vpu"]),
        ("table.getFilteredRows([{column: 2, value: 'vpu'}])", [1, 2, 3]),
        ("table.getFilteredRows([{column: 1, minValue: 2}])", [0, 3]),
        ("table.getFilteredRows([{column: 1, minValue: 1, maxValue: 2}])", [1, 3]),
        ("table.getFilteredRows([{column: 0, test: (v) => v.includes('o')}])", [0, 2]),
        ("table.getSortedRows({column: 1})", [2, 1, 3, 0]),
        ("table.getSortedRows([{column: 2}, {column: 1, desc: true}])", [0, 3, 1, 2]),
    ],
)
def test_reading_a_table(modules: Modules, expression: str, expected: object) -> None:
    assert modules.run(f"{MAKE} return {expression};", TABLE) == expected


@pytest.mark.parametrize(
    ("change", "expression", "expected"),
    [
        ("table.sort({column: 1, desc: true})", "table.getValue(0, 0)", "dot"),
        ("table.removeColumn(1)", "table.getColumnIndex('kind')", 1),
        ("table.removeRows(0, 3)", "table.getValue(0, 0)", "mul"),
        ("table.insertColumn(1, 'number', 'Rank')", "table.getValue(0, 2)", 3),
        ("table.addRow(['div', {v: 9, f: 'nine'}, 'vpu'])", "table.getFormattedValue(4, 1)", "nine"),
        ("table.addRows(2)", "[table.getNumberOfRows(), table.getValue(5, 0)]", [6, None]),
        ("table.setCell(1, 1, 5)", "[table.getValue(1, 1), table.getFormattedValue(1, 1)]", [5, "one"]),
        ("table.setValue(1, 1, 5)", "table.getFormattedValue(1, 1)", "5"),
        ("table.setProperty(0, 0, 'style', 'width: 40%')", "table.getProperty(0, 0, 'style')", "width: 40%"),
    ],
)  # fmt: skip
def test_changing_a_table(modules: Modules, change: str, expression: str, expected: object) -> None:
    assert modules.run(f"{MAKE} {change}; return {expression};", TABLE) == expected


def test_clone_is_independent(modules: Modules) -> None:
    script = (
        f"{MAKE} const copy = table.clone(); copy.setValue(0, 0, 'x'); return table.getValue(0, 0);"
    )
    assert modules.run(script, TABLE) == "dot"


def test_table_survives_json(modules: Modules) -> None:
    script = f"""{MAKE}
      const again = new google.visualization.DataTable(JSON.parse(table.toJSON()));
      return [again.getFormattedValue(1, 1), again.getColumnId(2), again.getTableProperty('device_type')];
    """
    assert modules.run(script, TABLE) == ["one", "kind", "TPU v5p"]


def test_view_shows_chosen_rows_and_columns(modules: Modules) -> None:
    script = f"""{MAKE}
      const view = new google.visualization.DataView(table);
      view.setRows([3, 1]);
      view.setColumns([0, {{type: 'number', label: 'Double', calc: (t, row) => 2 * t.getValue(row, 1)}},
                       {{sourceColumn: 1, label: 'Again'}}]);
      return [view.getNumberOfRows(), view.getValue(0, 0), view.getValue(0, 1), view.getColumnLabel(2),
              view.getFormattedValue(1, 2), view.getTableColumnIndex(2), view.getTableColumnIndex(1)];
    """
    assert modules.run(script, TABLE) == [2, "mul", 4, "Again", "one", 1, -1]


def test_view_hides_columns(modules: Modules) -> None:
    script = f"""{MAKE}
      const view = new google.visualization.DataView(table);
      view.hideColumns([0, 2]);
      return view.toDataTable().toJSON();
    """
    assert '"id":"time"' in modules.run(script, TABLE)


def test_view_stringifies_a_column(modules: Modules) -> None:
    script = f"""{MAKE}
      const view = new google.visualization.DataView(table);
      view.setColumns([0, {{calc: 'stringify', sourceColumn: 1, type: 'string', role: 'annotation'}}]);
      return [view.getValue(1, 1), view.getColumnRole(1)];
    """
    assert modules.run(script, TABLE) == ["one", "annotation"]


def test_group_sums_rows_of_equal_keys(modules: Modules) -> None:
    script = f"""{MAKE}
      const {{group, sum}} = google.visualization.data;
      const result = group(table, [2], [{{column: 1, aggregation: sum, type: 'number'}}]);
      return [result.getNumberOfRows(), result.getValue(0, 0), result.getValue(0, 1),
              result.getValue(1, 0), result.getValue(1, 1), result.getColumnLabel(1)];
    """
    assert modules.run(script, TABLE) == [2, "mxu", 3, "vpu", 3, "Time (us)"]


@pytest.mark.parametrize(
    ("options", "value", "text"),
    [
        ({"pattern": "##.#%"}, 0.12345, "12.3%"),
        ({"pattern": "##.##%"}, 0.5, "50%"),
        ({"pattern": "###.####ms"}, 1.5, "1.5ms"),
        ({"pattern": "###.###'%'"}, 42.5, "42.5%"),
        ({"pattern": "#,##0.00"}, 1234.5, "1,234.50"),
        ({"pattern": "percent"}, 0.5, "50%"),
        ({"fractionDigits": 0}, 1234.5678, "1,235"),
        ({"fractionDigits": 3}, 1.0, "1.000"),
        ({}, -1234.5, "-1,234.50"),
        ({"negativeParens": True}, -2, "(2.00)"),
        ({"prefix": "$", "suffix": "k"}, 2, "$2.00k"),
    ],
)
def test_number_format(modules: Modules, options: object, value: float, text: str) -> None:
    script = "return new google.visualization.NumberFormat(argument[0]).formatValue(argument[1]);"
    assert modules.run(script, [options, value]) == text


def test_pattern_format_keeps_values_text(modules: Modules) -> None:
    script = f"""{MAKE}
      table.setValue(0, 0, '"><img src=x>');
      new google.visualization.PatternFormat('<div title="{{1}}">{{0}}</div>').format(table, [0, 2], 0);
      const {{fillCell}} = await load('charts/markup.js');
      const cell = document.createElement('td');
      fillCell(cell, table.getFormattedValue(0, 0));
      return [cell.children.length, cell.textContent, cell.firstElementChild.title];
    """
    assert modules.run(script, TABLE) == [1, '"><img src=x>', "mxu"]


def test_array_becomes_a_table(modules: Modules) -> None:
    script = """
      const table = google.visualization.arrayToDataTable([['Schedule', 'Size'], [1, 2.5], [2, null]]);
      return [table.getColumnLabel(1), table.getColumnType(1), table.getNumberOfRows(), table.getValue(1, 1)];
    """
    assert modules.run(script) == ["Size", "number", 2, None]
