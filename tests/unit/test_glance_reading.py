"""The first glance of an overview: XProf's own texts in its order, and nothing that it doesn't say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from server.ui.glance import Figure, Glance, TopOp, read_glance
from server.ui.shell import ShellPage, render_index

ATTACK = "</dd><img src=x onerror=alert(1)>{{ 7 * 7 }}"
OP_COLUMNS = [{"id": "selfTimePercent"}, {"id": "category"}, {"id": "operation"}]


def table(
    properties: Mapping[str, str], rows: list[list[object]], columns: object = ()
) -> dict[str, object]:
    cells = [{"c": [{"v": value} for value in row]} for row in rows]
    return {"p": dict(properties), "cols": columns, "rows": cells}


def answer(
    steps: Mapping[str, str],
    ops: Mapping[str, str],
    run: Mapping[str, str],
    step_count: int = 1,
    top: list[list[object]] | None = None,
) -> list[object]:
    return [table(ops, top or [], OP_COLUMNS), table(steps, [["0"]] * step_count), table(run, [])]


TPU_STEPS = {
    "hardware_type": "TPU",
    "steptime_ms_average": "1.57",
    "steptime_ms_standard_deviation": "0.04",
    "input_conclusion": "Your program is NOT input-bound.",
}
TPU_OPS = {
    "mxu_utilization_percent": "2.7%",
    "flop_rate_utilization_relative_to_roofline": "0.1%",
    "device_duty_cycle_percent": "85.4%",
    "hbm_utilization_percent": "26.7%",
    "memory_bw_utilization_relative_to_hw_limit": "0.2%",
}
TPU_RUN = {"device_type": "TPU v5p", "host_count": "4", "device_core_count": "16"}


def values(glance: Glance | None) -> list[tuple[str, str]]:
    """Every label with its value; a heading's parts follow it."""
    assert glance is not None
    return [
        (each.label, each.value) for figure in glance.figures for each in (figure, *figure.parts)
    ]


def test_tpu_figures_in_xprofs_order() -> None:
    glance = read_glance(answer(TPU_STEPS, TPU_OPS, TPU_RUN))
    assert values(glance) == [
        ("Average Step Time", "1.57 ms"),
        ("FLOPS Utilization", ""),
        ("Utilization of TPU Matrix Units", "2.7%"),
        ("Compared to Program's Optimal FLOPS", "0.1%"),
        ("TPU Duty Cycle", "85.4%"),
        ("Memory Bandwidth Utilization", ""),
        ("HBM Utilization", "26.7%"),
        ("Compared to Program's Optimal Bandwidth (VMem + SpMem + HBM)", "0.2%"),
    ]
    assert glance is not None
    assert glance.figures[0].notes[0] == "(σ = 0.04 ms)"  # noqa: RUF001 - the field's sign
    assert glance.statement == "Your program is NOT input-bound."
    assert glance.environment == (
        ("Number of Hosts used", "4"),
        ("Device type", "TPU v5p"),
        ("Number of device cores", "16"),
    )


def test_figures_of_a_cpu_are_the_parts_of_a_step() -> None:
    steps = {
        "hardware_type": "CPU_ONLY",
        "steptime_ms_average": "0.1",
        "other_time_ms_avg": "0.2",
        "other_time_ms_sdv": "0.3",
        "host_compute_time_ms_avg": "0.4",
    }
    # A CPU's answer has these, too, and XProf doesn't show them.
    ops = {"mxu_utilization_percent": "0.0%", "device_duty_cycle_percent": "0.0%"}
    assert values(read_glance(answer(steps, ops, {}))) == [
        ("Average Step Time", "0.1 ms"),
        ("All Others Time", "0.2 ms"),
        ("Host Compute Time", "0.4 ms"),
    ]


def test_without_steps_no_time_is_told() -> None:
    """XProf's answer says 0.0 ms then, and that it knows none."""
    steps = {"hardware_type": "GPU", "steptime_ms_average": "0.0", "other_time_ms_avg": "0.0"}
    ops = {"device_tf_op_percent": "100.0%", "device_compute_16bit_percent": "25.0%"}
    assert values(read_glance(answer(steps, ops, {}, step_count=0))) == [
        ("Framework Op Placement", ""),
        ("Device", "100.0%"),
        ("Device Compute Precisions", ""),
        ("16-bit", "25.0%"),
    ]


def test_operations_by_their_time() -> None:
    top: list[list[object]] = [
        [0.048, "fusion", "add"],
        [0.302, "convolution", "dot"],
        [0, "x", "y"],
    ]
    glance = read_glance(answer(TPU_STEPS, TPU_OPS, {}, top=top))
    assert glance is not None
    assert glance.ops == (TopOp("dot", "30.2%", 100.0), TopOp("add", "4.8%", 15.9))


@pytest.mark.parametrize(
    "strange",
    [
        None,
        {},
        [],
        [[], [], []],
        [{"p": []}, {"p": {"steptime_ms_average": 3}, "rows": [1]}, {"p": None}],
        [{"cols": [1, {"id": "operation"}], "rows": "x"}, {"rows": [None]}, 7],
        answer({"steptime_ms_average": "9" * 41, "hardware_type": "TPU"}, {}, {}),
    ],
)
def test_what_is_no_overview_gives_none(strange: object) -> None:
    assert read_glance(strange) is None


def test_strange_rows_of_operations_are_left_out() -> None:
    top: list[list[object]] = [[float("nan"), "", "a"], ["0.5", "", "b"], [0.5], [2.0, "", "c"]]
    glance = read_glance(answer(TPU_STEPS, TPU_OPS, {}, top=top))
    assert glance is not None
    assert glance.ops == ()


class Elements(HTMLParser):
    """The names of all elements of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)


def test_hostile_texts_stay_texts() -> None:
    page = ShellPage("/s/token", "/a/", "/x/", "run", "session", 4)
    harmless = Glance(
        (Figure("a", "b", ("c",), (Figure("d", "e"),)),), (("f", "g"),), "h", (TopOp("i", "j", 1),)
    )
    hostile = Glance(
        (Figure(ATTACK, ATTACK, (ATTACK,), (Figure(ATTACK, ATTACK),)),),
        ((ATTACK, ATTACK),),
        ATTACK,
        (TopOp(ATTACK, ATTACK, 1),),
    )
    shown = render_index(replace(page, glance=hostile))
    assert Elements(shown).names == Elements(render_index(replace(page, glance=harmless))).names
    assert "{{ 7 * 7 }}" in shown
    assert 'id="xh-glance"' not in render_index(page)
