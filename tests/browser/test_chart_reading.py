"""Charts can be read without a mouse, say so when they are empty, and keep long series light."""

from __future__ import annotations

import pytest

from tests.browser.modules import Modules
from tests.browser.test_charts import SETUP, STEPS


def test_arrow_keys_walk_from_mark_to_mark(modules: Modules) -> None:
    script = f"""{SETUP}
      chart.draw(table, {{legend: 'none'}});
      const root = box.querySelector('svg');
      root.focus();
      const read = (key) => {{
        root.dispatchEvent(new KeyboardEvent('keydown', {{key, bubbles: true}}));
        return ['.xh-tooltip', '.xh-voice'].map((name) => document.querySelector(name).textContent);
      }};
      return ['ArrowRight', 'ArrowRight', 'ArrowDown', 'ArrowLeft'].map(read);
    """
    expected = ["0\nCompute: 3", "1\nCompute: 2", "1\nIdle: 2", "0\nIdle: 1"]
    shown = modules.run(script, {"kind": "ColumnChart", "rows": STEPS})
    assert shown == [[text, text] for text in expected]


def test_enter_selects_the_mark_that_the_keys_are_at(modules: Modules) -> None:
    script = f"""{SETUP}
      const heard = [];
      google.visualization.events.addListener(chart, 'select', () => heard.push(chart.getSelection()));
      const root = box.querySelector('svg');
      root.focus();
      for (const key of ['ArrowRight', 'ArrowRight', 'Enter'])
        root.dispatchEvent(new KeyboardEvent('keydown', {{key, bubbles: true}}));
      return heard;
    """
    assert modules.run(script, {"kind": "LineChart", "rows": STEPS}) == [[{"row": 1, "column": 1}]]


def test_chart_is_an_image_with_a_summary(modules: Modules) -> None:
    script = f"""{SETUP}
      const root = box.querySelector('svg');
      const summary = root.querySelector('desc').textContent;
      return [root.getAttribute('role'), root.getAttribute('aria-label'), summary];
    """
    argument = {"kind": "AreaChart", "rows": STEPS, "options": {"title": "Step time"}}
    role, label, summary = modules.run(script, argument)
    assert (role, label) == ("img", "Step time")
    assert summary == "Area chart of 3 rows. Compute: 2 to 4; Idle: 1 to 2."


@pytest.mark.parametrize("kind", ["AreaChart", "ColumnChart", "PieChart", "ScatterChart"])
def test_empty_chart_says_so_and_is_ready(modules: Modules, kind: str) -> None:
    script = f"""{SETUP}
      return [box.textContent, box.querySelectorAll('.xh-bar, .xh-slice, .xh-point').length];
    """
    argument = {"kind": kind, "rows": [["x", {"label": "y", "type": "number"}]]}
    assert modules.run(script, argument) == ["Nothing of this kind was recorded", 0]


@pytest.mark.parametrize("kind", ["AreaChart", "PieChart", "Table"])
def test_table_without_columns_is_an_error_event(modules: Modules, kind: str) -> None:
    script = """
      const chart = new google.visualization[argument](document.getElementById('box'));
      const heard = [];
      google.visualization.events.addListener(chart, 'error', ({id}) => heard.push(id));
      chart.draw(new google.visualization.DataTable());
      return heard.length;
    """
    assert modules.run(script, kind) == 1


@pytest.mark.parametrize(
    ("kind", "selector"),
    [("AreaChart", ".xh-line"), ("ColumnChart", ".xh-bars"), ("ScatterChart", ".xh-points")],
)
def test_long_series_is_one_element_with_its_extremes(
    modules: Modules, kind: str, selector: str
) -> None:
    rows = [["t", "v"], *([time, 1000 if time == 7777 else time % 10] for time in range(20_000))]
    script = f"""{SETUP}
      const [made, ...others] = box.querySelectorAll('{selector}');
      const plot = box.querySelector('svg svg');
      const top = made.getBBox().y - plot.viewBox.baseVal.y;
      return [others.length, top / plot.viewBox.baseVal.height, made.getAttribute('d').length];
    """
    others, top, length = modules.run(
        script, {"kind": kind, "rows": rows, "options": {"legend": "none"}}
    )
    assert others == 0
    assert top == pytest.approx(0, abs=0.02)  # the one high value, alone among its neighbours
    assert length < 120_000


def test_series_beside_a_pointed_name_step_back(modules: Modules) -> None:
    script = f"""{SETUP}
      box.querySelectorAll('.xh-legend-entry')[1].dispatchEvent(new MouseEvent('mouseenter'));
      return [...box.querySelectorAll('.xh-series')].map((one) => one.classList.contains('xh-lit'));
    """
    assert modules.run(script, {"kind": "AreaChart", "rows": STEPS}) == [False, True]


def test_long_legend_has_pages(modules: Modules) -> None:
    rows = [["op", "time"], *([f"op {number}", 1] for number in range(40))]
    script = f"""{SETUP}
      const names = () =>
        [...box.querySelectorAll('.xh-legend-entry > text')].map((one) => one.firstChild.data);
      const first = names();
      box.querySelectorAll('.xh-legend-turn')[1].dispatchEvent(new MouseEvent('click', {{bubbles: true}}));
      return [first, names()];
    """
    first, second = modules.run(script, {"kind": "PieChart", "rows": rows})
    assert first[0] == "op 0"
    assert second[0] == f"op {len(first)}"


def test_bottom_labels_do_not_touch(modules: Modules) -> None:
    rows = [["op", "v"], *([f"a long name {number}", number] for number in range(30))]
    script = f"""{SETUP}
      const texts = [...box.querySelectorAll('svg > text[text-anchor=middle]')];
      const boxes = texts.map((one) => one.getBBox()).filter((one) => one.y > 200);
      return boxes.slice(1).map((one, index) => one.x - boxes[index].x - boxes[index].width);
    """
    gaps = modules.run(script, {"kind": "ColumnChart", "rows": rows})
    assert gaps
    assert min(gaps) > 4


def test_title_of_the_bottom_axis_is_below_its_labels(modules: Modules) -> None:
    # The area that XProf's input pipeline page asks for leaves no room below.
    options = {
        "hAxis": {"title": "Step Number"},
        "chartArea": {"left": 100, "top": 10, "width": "65%", "height": "90%"},
        "width": 820,
        "height": 300,
    }
    script = f"""{SETUP}
      const title = box.querySelectorAll('.xh-axis-title')[0].getBBox();
      const labels = [...box.querySelectorAll('svg > text[text-anchor=middle]:not(.xh-axis-title)')];
      const ends = labels.map((one) => one.getBBox()).map(({{y, height}}) => y + height);
      return [Math.max(...ends) - title.y, title.y + title.height];
    """
    overlap, end = modules.run(script, {"kind": "AreaChart", "rows": STEPS, "options": options})
    assert overlap <= 1
    assert end <= 300


def test_charts_laid_over_each_other_have_one_plot(modules: Modules) -> None:
    # XProf's memory viewer lays a chart without names over one with them.
    hidden = {"textPosition": "none", "viewWindow": {"min": 0, "max": 10}}
    named = {"title": "Program Order", "viewWindow": {"min": 0, "max": 10}}
    area = {"chartArea": {"height": "80%"}, "height": 380, "width": 700}
    script = """
      const {plotRect} = await load('charts/frame.js');
      return argument.map((options) => plotRect({width: 700, height: 380}, options, false));
    """
    charts = [
        {**area, "hAxis": named, "legend": {"position": "top"}},
        {**area, "hAxis": hidden, "legend": {"position": "none"}},
    ]
    below, above = modules.run(script, charts)
    assert below == above


def test_chart_fits_its_place_when_that_changes(modules: Modules) -> None:
    modules.run(
        f"{SETUP} globalThis.box = box;", {"kind": "AreaChart", "rows": STEPS, "options": {}}
    )
    modules.page.evaluate("document.getElementById('box').style.width = '420px'")
    modules.page.locator("svg.xh-chart[width='420']").wait_for()


def test_double_click_shows_all_again(modules: Modules) -> None:
    rows = [["t", "heap"], *([time, time % 7] for time in range(101))]
    options = {"explorer": {"actions": ["dragToZoom", "rightClickToReset"]}, "legend": "none"}
    modules.run(SETUP, {"kind": "AreaChart", "rows": rows, "options": options})
    mouse = modules.page.mouse
    labels = modules.page.locator("#box svg > text")
    whole = labels.all_text_contents()
    mouse.move(200, 150)
    mouse.down()
    mouse.move(300, 150, steps=4)
    mouse.up()
    assert modules.page.locator(".xh-reset").text_content() == "Show all"
    mouse.dblclick(250, 150)
    assert labels.all_text_contents() == whole


def test_pointing_at_a_category_means_its_row(modules: Modules) -> None:
    # XProf's pod viewer asks for this, and shows no tooltip.
    options = {"focusTarget": "category", "isStacked": True, "tooltip": {"trigger": "none"}}
    script = f"""{SETUP}
      const heard = [];
      google.visualization.events.addListener(chart, 'onmouseover', (at) => heard.push(at));
      const root = box.firstElementChild;
      const plot = box.querySelector('svg svg').getBoundingClientRect();
      const at = {{bubbles: true, clientX: plot.x + plot.width / 2, clientY: plot.y + 3}};
      root.dispatchEvent(new MouseEvent('mousemove', at));
      return [heard, document.querySelector('.xh-tooltip:not([hidden])') === null];
    """
    argument = {"kind": "ColumnChart", "rows": STEPS, "options": options}
    assert modules.run(script, argument) == [[{"row": 1, "column": None}], True]
