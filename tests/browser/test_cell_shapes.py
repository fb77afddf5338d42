"""A name that looks from end to end like what XProf writes into a cell leads nowhere and loads nothing."""

from __future__ import annotations

import pytest

from tests.browser.modules import Modules

BASE = "/s/token/data/plugin/profile/"
FILL = """
  const { fillCell } = await load("charts/markup.js");
  const cell = document.createElement("td");
  fillCell(cell, argument);
  const attributes = (node) => Object.fromEntries([...node.attributes].map(({name, value}) => [name, value]));
  const made = [...cell.querySelectorAll("*")];
  return [cell.textContent, made.map((node) => [node.localName, attributes(node)])];
"""


def link(address: str) -> str:
    return f'<a href="{address}" target="_blank">op</a>'


@pytest.mark.parametrize(
    "address",
    [
        "https://other.example/",
        "//other.example/x",
        "javascript:alert(1)",
        "data:text/html,x",
        "blob:https://other.example/5",
        "about:blank",
    ],
)
def test_a_link_to_elsewhere_is_no_link(modules: Modules, address: str) -> None:
    assert modules.run(FILL, link(address)) == ["op", []]


@pytest.mark.parametrize("address", ["/s/another/data/plugin/profile/", "/v1/machineLearningRuns"])
def test_a_link_on_this_host_stays_under_the_link(modules: Modules, address: str) -> None:
    text, (made,) = modules.run(FILL, link(address))
    assert text == "op"
    assert made[0] == "a"
    assert made[1]["href"].startswith(BASE)


@pytest.mark.parametrize(
    "name",
    [
        '<font color="url(//other.example)">x</font>',
        "<div class='source-info-cell' title='<img src=x onerror=alert(1)>'><img src=x></div>",
        '<div title="&lt;img src=x onerror=alert(1)&gt;">x</div>',
        '<a href="/x" target="_blank"><img src=x onerror=alert(1)></a>',
    ],
)
def test_no_shape_has_more_than_one_plain_element(modules: Modules, name: str) -> None:
    _, (made,) = modules.run(FILL, name)
    assert made[0] in {"span", "div", "a"}
    assert set(made[1]) <= {"class", "title", "href", "target", "rel"}
