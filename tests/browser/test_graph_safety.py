"""A graph is rebuilt from harmless parts: no DOT text makes it load, run or link to anything."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Dialog, Page, Route

from tests.browser.conftest import MakeViewer
from tests.browser.modules import Modules
from tests.browser.viewer import Viewer

TEMPLATE_LITERAL = "`+alert(1)+`${alert(2)}</script><script>alert(3)</script>"
"""What broke out of XProf's own page: a name inside a JavaScript template literal."""

ATTACKS = {
    "template literal": f"digraph G {{ a [label={json.dumps(TEMPLATE_LITERAL)}]; }}",
    "markup in a label": 'digraph G { a [label="<img src=x onerror=alert(1)>"]; }',
    "label like HTML": (
        'digraph G { a [label=<<table><tr><td href="javascript:alert(1)" title="x">'
        '<img src="http://other.example/x.png"/></td></tr></table>>]; }'
    ),
    "bold label like HTML": "digraph G { a [label=<<b>&lt;script&gt;alert(1)&lt;/script&gt;</b>>]; }",
    "script as address": 'digraph G { a [URL="javascript:alert(1)", target="_top"]; }',
    "addresses of parts": (
        'digraph G { a -> b [headURL="javascript:alert(1)", edgeURL="//other.example/", '
        'tailhref="data:text/html,x", labelURL="javascript:alert(2)", label="x"]; }'
    ),
    "image": 'digraph G { a [image="http://other.example/x.png", shape=none]; }',
    "shape from a file": 'digraph G { a [shape=custom, shapefile="http://other.example/x.svg"]; }',
    "stylesheet": (
        'digraph G { stylesheet="http://other.example/x.css"; a [class="x", style=filled, '
        'fillcolor="url(http://other.example/p)"]; }'
    ),
    "stylesheet that ends its element": (
        "digraph G { stylesheet=<data:text/css,x\"?><svg onload='alert(1)'/>>; a; }"
    ),
    "identifier": 'digraph G { a [id="x\' onload=\'alert(1)", class="y\\" onclick=\\"alert(1)"]; }',
    "tooltip": 'digraph G { a [tooltip="</title><script>alert(1)</script>"]; }',
    "comment": 'digraph G { a [comment="--><script>alert(1)</script>"]; }',
    "entities": 'digraph G { a [label="&#60;script&#62;alert(1)&lt;/script&gt; &x;"]; }',
    "characters XML forbids": 'digraph G { a [label="a\\u0001b"]; "\\ud800" -> a; }',
    "very long label": f'digraph G {{ a [label="{"x" * 200_000}"]; }}',
}

LAYOUT = """
  const {Graphviz} = await load('vendor/graphviz.js');
  const {safeSvg} = await load('graphsvg.js');
  const graphviz = await Graphviz.load();
  let svg = null;
  try { svg = safeSvg(graphviz.layout(argument, 'svg', 'dot')); }
  catch (error) { return {failed: String(error.message)}; }
  document.body.append(svg);
  const all = [svg, ...svg.querySelectorAll('*')];
  return {
    names: [...new Set(all.map((one) => one.localName))],
    attributes: [...new Set(all.flatMap((one) => one.getAttributeNames()))],
    values: all.flatMap((one) => [...one.attributes].map((attribute) => attribute.value)),
    text: svg.textContent,
  };
"""

SHAPES = {"svg", "g", "title", "path", "polygon", "polyline", "ellipse", "text"}
COLOURS = {"defs", "linearGradient", "radialGradient", "stop"}


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_graph_becomes_more_than_shapes_and_text(modules: Modules, attack: str) -> None:
    asked: list[str] = []
    modules.page.on("request", lambda request: asked.append(request.url))
    dialogs: list[str] = []

    def note(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    modules.page.on("dialog", note)
    drawn = modules.run(LAYOUT, ATTACKS[attack])
    modules.page.wait_for_timeout(50)
    assert dialogs == []
    assert [url for url in asked if "other.example" in url] == []
    if "failed" in drawn:
        assert drawn["failed"]
        return
    assert set(drawn["names"]) <= SHAPES | COLOURS
    assert [name for name in drawn["attributes"] if name.startswith("on") or "href" in name] == []
    assert not re.search(r"javascript:|other\.example", " ".join(drawn["values"]))


def test_attack_on_xprofs_own_page_is_only_a_label(modules: Modules) -> None:
    drawn = modules.run(LAYOUT, ATTACKS["template literal"])
    assert TEMPLATE_LITERAL in drawn["text"]


def answer_with(page: Page, dot: str) -> None:
    """Has the graph's data answered with this DOT text, whatever the server says."""

    def answer(route: Route) -> None:
        route.fulfill(json={"dot": dot, "layout": "dot"})

    page.route("**/graph_data?*", answer)


def open_graph(shown: Viewer, dot: str) -> Page:
    """The page that draws a graph, by itself."""
    answer_with(shown.page, dot)
    shown.page.goto(f"{shown.base}data?tag=graph_viewer&type=graph&node_name=x&module_name=y")
    return shown.page


def test_hostile_graph_in_the_real_page_raises_nothing(demo_link: str, viewer: MakeViewer) -> None:
    shown = viewer(demo_link)
    page = open_graph(shown, ATTACKS["addresses of parts"])
    shown.wait_for("svg .node")
    assert page.locator("#graph-container a, #graph-container script").count() == 0
    assert shown.complaints() == {}


def test_graph_that_is_too_large_is_a_sentence_with_a_way_out(
    demo_link: str, viewer: MakeViewer
) -> None:
    shown = viewer(demo_link)
    edges = "".join(f"n{number} -> n{number * 7 % 10_000};\n" for number in range(10_000))
    page = open_graph(shown, f"digraph G {{\n{edges}}}")
    status = shown.wait_for("#graph-status.failed")
    assert "10,000 edges" in status.inner_text()
    assert "smaller graph width" in status.inner_text()
    assert page.get_by_role("link", name="Save DOT").get_attribute("download") == "graph.dot"
    assert shown.complaints() == {}


def test_text_that_is_no_graph_is_a_sentence(demo_link: str, viewer: MakeViewer) -> None:
    shown = viewer(demo_link)
    open_graph(shown, "digraph G { a -> ")
    assert "could not draw this graph" in shown.wait_for("#graph-status.failed").inner_text()


def test_layout_ends_at_its_limit(modules: Modules) -> None:
    # A chain of clusters this wide takes Graphviz far longer than the limit.
    edges = "".join(
        f"n{a} -> n{(a * 37 + b * 101) % 900};" for a in range(900) for b in range(1, 6)
    )
    script = """
      const {layOut} = await load('graphlayout.js');
      return layOut(argument, 'dot', {longest: 300}).then(() => 'drawn', (error) => error.message);
    """
    said = modules.run(script, f"digraph G {{ {edges} }}")
    assert said.startswith("Drawing this graph takes longer than 0.3 seconds.")


def test_reader_can_stop_a_layout(modules: Modules) -> None:
    script = """
      const {layOut} = await load('graphlayout.js');
      const stopping = new AbortController();
      const laid = layOut('digraph G { a -> b }', 'dot', {signal: stopping.signal});
      stopping.abort();
      return laid.then(() => 'drawn', (error) => error.message);
    """
    assert modules.run(script).startswith("Drawing was stopped.")


def test_found_node_is_marked_and_in_the_middle(demo_link: str, viewer: MakeViewer) -> None:
    shown = viewer(demo_link)
    page = open_graph(shown, 'digraph G { a [label="dot.1"]; b [label="add.2"]; a -> b; c -> b; }')
    shown.wait_for("svg .node")
    page.get_by_label("Find an op in this graph").fill("add")
    assert page.locator("output").inner_text() == "1 of 1"
    page.wait_for_function(
        """() => {
          const middle = (name) => {
            const {left, top, width, height} = document.querySelector(name).getBoundingClientRect();
            return [left + width / 2, top + height / 2];
          };
          const [found, around] = [middle('.node.found'), middle('#graph-container')];
          return Math.abs(found[0] - around[0]) < 3 && Math.abs(found[1] - around[1]) < 3;
        }"""
    )


def test_keys_zoom_and_open_a_node(demo_link: str, viewer: MakeViewer) -> None:
    shown = viewer(demo_link)
    page = open_graph(shown, "digraph G { a -> b; }")
    shown.wait_for("svg .node")
    page.evaluate(
        "() => document.querySelector('.node').addEventListener('click', () => { window.heard = true; })"
    )
    width = "document.querySelector('.node').getBoundingClientRect().width"
    before = page.evaluate(width)
    page.locator("#graph-container").press("+")
    page.wait_for_function(f"{width} > {before} * 1.05")
    page.locator(".node").first.press("Enter")
    assert page.evaluate("window.heard") is True
    assert shown.complaints() == {}
