"""The graph in XProf's pages, whatever names stand in it."""

from __future__ import annotations

import json

import pytest

from loader.engine.pages import UnknownPageError, check_dot, graph_in_page, graph_json

PAGE = """
<!DOCTYPE html>
<html>
<body>
  <script>
    const cssregex = new RegExp('stylesheet=<([^]*)\\n>\\n', 'gm');
    const hpccWasm = window["@hpcc-js/wasm"];
    const data = `{dot}`;
    const results = cssregex.exec(data);
    hpccWasm.graphviz.layout(dot_data, "svg", "{layout}").then(render_callback);
  </script>
</body>
</html>
"""
NEATO = 'hpccWasm.graphviz.layout(dot_data, "svg", "neato")'


def page(dot: str, layout: str = "neato") -> str:
    return PAGE.replace("{dot}", dot).replace("{layout}", layout)


@pytest.mark.parametrize("layout", ["dot", "neato"])
def test_graph_and_layout(layout: str) -> None:
    dot = 'graph G {\n"0" [label="a"];\n}'
    assert graph_in_page(page(dot, layout)) == (dot, layout)


@pytest.mark.parametrize(
    "name",
    [
        "`+alert(1)+`",
        "${alert(1)}",
        "</script><script>alert(1)</script>",
        "`;\n    const results = cssregex.exec(data);",
        "\n    const data = `graph other { }",
        NEATO.replace("neato", "dot"),
    ],
)
def test_names_stay_data(name: str) -> None:
    dot = f'graph G {{\n"0" [label="{name}"];\n}}'
    assert graph_in_page(page(dot)) == (dot, "neato")
    assert json.loads(graph_json(dot, "neato")) == {"dot": dot, "layout": "neato"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<html></html>",
        page("graph G {}").replace("const data", "let data"),
        page("graph G {}").replace("cssregex.exec", "exec"),
        page("graph G {}", "circo"),
        page("graph G {}").replace("hpccWasm.graphviz", "other"),
        page("<svg onload=alert(1)>"),
        "x" + page("graph G {}").lstrip(),
    ],
)
def test_other_pages_are_refused(text: str) -> None:
    with pytest.raises(UnknownPageError):
        graph_in_page(text)


@pytest.mark.parametrize("text", ["", "<!DOCTYPE html>", "digraph G {", "HloModule x"])
def test_what_is_no_graph(text: str) -> None:
    with pytest.raises(UnknownPageError):
        check_dot(text)
