"""Charts draw the marks that their data calls for, and answer the pointer as XProf expects."""

from __future__ import annotations

import pytest

from tests.browser.modules import Modules

SETUP = """
  const box = document.getElementById('box');
  box.style.cssText = 'position: fixed; left: 0; top: 0; width: 600px; height: 300px';
  const count = (selector) => box.querySelectorAll(selector).length;
  const table = google.visualization.arrayToDataTable(argument.rows);
  const chart = new google.visualization[argument.kind](box);
  chart.draw(table, argument.options ?? {});
"""

STEPS = [["Step", "Compute", "Idle"], ["0", 3, 1], ["1", 2, 2], ["2", 4, 1]]
POINTS = [["x", "y"], [1, 10], [10, 100], [100, 1000]]


@pytest.mark.parametrize(
    ("kind", "rows", "selector", "marks"),
    [
        ("AreaChart", STEPS, ".xh-area", 2),
        ("SteppedAreaChart", STEPS, ".xh-area", 2),
        ("LineChart", STEPS, ".xh-line", 2),
        ("ColumnChart", STEPS, ".xh-bar", 6),
        ("BarChart", STEPS, ".xh-bar", 6),
        ("ComboChart", STEPS, ".xh-line", 2),
        ("ScatterChart", POINTS, ".xh-point", 3),
        ("PieChart", [["a", "b"], ["x", 1], ["y", 3]], ".xh-slice", 2),
        ("Histogram", [["v"], [1], [2], [3], [9]], ".xh-bar", 2),
        ("CandlestickChart", [["d", "l", "o", "c", "h"], ["m", 1, 2, 4, 5]], ".xh-bar", 1),
        ("BubbleChart", [["id", "x", "y"], ["a", 1, 2], ["b", 2, 3]], ".xh-point", 2),
    ],
)
def test_chart_draws_a_mark_for_each_value(
    modules: Modules, kind: str, rows: object, selector: str, marks: int
) -> None:
    argument = {"kind": kind, "rows": rows}
    assert modules.run(f"{SETUP} return count({selector!r});", argument) == marks


def test_stacked_columns_stand_on_each_other(modules: Modules) -> None:
    argument = {"kind": "ColumnChart", "rows": STEPS, "options": {"isStacked": True}}
    script = f"""{SETUP}
      const bars = [...box.querySelectorAll('.xh-bar')].map((bar) => bar.getBBox());
      return [bars[0].y - bars[3].y - bars[3].height, bars[0].height / bars[3].height];
    """
    gap, ratio = modules.run(script, argument)
    assert gap == pytest.approx(0, abs=0.01)
    assert ratio == pytest.approx(3)


def test_percent_stack_fills_the_plot(modules: Modules) -> None:
    options = {
        "isStacked": "percent",
        "orientation": "vertical",
        "chartArea": {"left": 0, "width": "100%"},
    }
    argument = {"kind": "ColumnChart", "rows": [["", "a", "b"], ["", 1, 3]], "options": options}
    script = (
        f"{SETUP} return [...box.querySelectorAll('.xh-bar')].map((bar) => bar.getBBox().width);"
    )
    first, second = modules.run(script, argument)
    assert second == pytest.approx(3 * first)


def test_log_axis_spaces_powers_of_ten_evenly(modules: Modules) -> None:
    log = {"scaleType": "log"}
    argument = {"kind": "ScatterChart", "rows": POINTS, "options": {"hAxis": log, "vAxis": log}}
    script = f"{SETUP} return [...box.querySelectorAll('.xh-point')].map((point) => point.cx.baseVal.value);"
    first, second, third = modules.run(script, argument)
    assert second - first == pytest.approx(third - second)


def test_slices_below_the_threshold_become_other(modules: Modules) -> None:
    rows = [["op", "time"], ["big", 98], ["a", 1], ["b", 1]]
    argument = {"kind": "PieChart", "rows": rows, "options": {"sliceVisibilityThreshold": 0.05}}
    script = f"{SETUP} return [count('.xh-slice'), box.textContent];"
    slices, text = modules.run(script, argument)
    assert slices == 2
    assert "Other" in text


def test_click_selects_and_tells(modules: Modules) -> None:
    argument = {"kind": "ColumnChart", "rows": STEPS}
    script = f"""{SETUP}
      const heard = [];
      google.visualization.events.addListener(chart, 'select', () => heard.push(chart.getSelection()));
      google.visualization.events.addListener(chart, 'onmouseover', (at) => heard.push(at));
      const bar = box.querySelectorAll('.xh-bar')[4].getBoundingClientRect();
      const at = {{bubbles: true, clientX: bar.x + bar.width / 2, clientY: bar.y + bar.height / 2}};
      box.firstElementChild.dispatchEvent(new MouseEvent('mousemove', at));
      box.firstElementChild.dispatchEvent(new MouseEvent('click', at));
      return heard;
    """
    spot = {"row": 1, "column": 2}
    assert modules.run(script, argument) == [spot, [spot]]


def test_ready_comes_after_the_caller_could_listen(modules: Modules) -> None:
    script = f"""{SETUP}
      return new Promise((resolve) =>
        google.visualization.events.addListener(chart, 'ready', () => resolve('ready')));
    """
    assert modules.run(script, {"kind": "AreaChart", "rows": STEPS}) == "ready"


def test_drag_zooms_and_right_click_resets(modules: Modules) -> None:
    rows = [["t", "heap"], *([time, time % 7] for time in range(101))]
    options = {"explorer": {"actions": ["dragToZoom", "rightClickToReset"]}, "legend": "none"}
    modules.run(SETUP, {"kind": "AreaChart", "rows": rows, "options": options})
    mouse = modules.page.mouse
    labels = modules.page.locator("#box text")
    whole = labels.all_text_contents()
    mouse.move(200, 150)
    mouse.down()
    mouse.move(300, 150, steps=4)
    mouse.up()
    zoomed = labels.all_text_contents()
    assert "0" in whole
    assert "100" in whole
    assert "100" not in zoomed
    mouse.click(250, 150, button="right")
    assert labels.all_text_contents() == whole


def test_a_drag_that_the_browser_takes_over_leaves_nothing_behind(modules: Modules) -> None:
    rows = [["t", "heap"], *([time, time % 7] for time in range(101))]
    options = {"explorer": {"actions": ["dragToZoom"]}, "legend": "none"}
    script = f"""{SETUP}
      const root = box.querySelector('svg');
      const send = (target, type, clientX) =>
        target.dispatchEvent(new PointerEvent(type, {{clientX, clientY: 150, bubbles: true}}));
      const before = box.textContent;
      send(root, 'pointerdown', 200);
      send(window, 'pointermove', 250);
      send(window, 'pointercancel', 250);
      const left = box.querySelectorAll('.xh-drag').length;
      send(window, 'pointerup', 300);
      return [left, box.textContent === before];
    """
    argument = {"kind": "AreaChart", "rows": rows, "options": options}
    assert modules.run(script, argument) == [0, True]


def test_colour_option_can_not_load_anything(modules: Modules) -> None:
    options = {"colors": ["url(http://other.example/x.svg#p)"]}
    script = f"{SETUP} return box.innerHTML.includes('other.example');"
    argument = {"kind": "ColumnChart", "rows": STEPS, "options": options}
    assert modules.run(script, argument) is False
