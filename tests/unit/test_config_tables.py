"""What jobs send of themselves as tables: the known parts first, any shape, and an end to everything."""

from __future__ import annotations

from server.registry.records import Json
from server.run_pages.config_tables import (
    DEEPEST,
    LONGEST_TEXT,
    MOST_ROWS,
    ConfigRow,
    config_tables,
    document_table,
)


def test_the_three_parts_stand_in_their_order_and_the_rest_behind() -> None:
    tables = config_tables(
        {
            "hardwareConfigs": {"device_type": "TPU v5e"},
            "zz": 1,
            "userConfigs": {"epochs": "3", "batch": "64"},
            "softwareConfigs": {},
        }
    )
    assert [table.title for table in tables] == ["User", "Hardware", "Other"]
    assert tables[0].rows == (ConfigRow("batch", "64"), ConfigRow("epochs", "3"))
    assert tables[2].rows == (ConfigRow("zz", "1"),)


def test_values_of_every_kind_are_told() -> None:
    (table,) = document_table(
        "Workload",
        {
            "a": True,
            "b": None,
            "c": 0.5,
            "d": ["x", 1],
            "e": {"f": {"g": "deep"}},
            "h": [{"i": 1}, {"i": 2}],
            "j": {},
            "k": "größer",
        },
    )
    assert table.rows == (
        ConfigRow("a", "true"),
        ConfigRow("b", "null"),
        ConfigRow("c", "0.5"),
        ConfigRow("d", "x, 1"),
        ConfigRow("e", "", (ConfigRow("f", "", (ConfigRow("g", "deep"),)),)),
        ConfigRow(
            "h",
            "",
            (
                ConfigRow("1", "", (ConfigRow("i", "1"),)),
                ConfigRow("2", "", (ConfigRow("i", "2"),)),
            ),
        ),
        ConfigRow("j", "{}"),
        ConfigRow("k", "größer"),
    )


def test_a_part_that_is_no_document_stands_with_the_rest() -> None:
    (table,) = config_tables({"userConfigs": "all"})
    assert (table.title, table.rows) == ("Other", (ConfigRow("userConfigs", "all"),))
    assert config_tables({}) == ()
    assert document_table("Artifacts", {}) == ()


def test_depth_rows_and_texts_have_an_end() -> None:
    deep: Json = "bottom"
    for _ in range(50):
        deep = {"in": deep}
    (table,) = document_table("Deep", {"deep": deep, "long": "x" * 10_000})
    row, depth = table.rows[0], 1
    while row.rows:
        row, depth = row.rows[0], depth + 1
    assert depth == DEEPEST
    assert row.text.startswith('{"in":')
    assert len(table.rows[1].text) == LONGEST_TEXT + 1
    (wide,) = document_table("Wide", {f"{number:04}": number for number in range(1000)})
    assert (len(wide.rows), wide.left_out) == (MOST_ROWS, 1000 - MOST_ROWS)
