"""One script of our modules: right order, scopes apart, nothing that the linker does not understand."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from server.ui.linking import LinkError, Script, link_scripts, link_styles, read_module


def link(files: Mapping[str, str], *entries: str) -> Script:
    return link_scripts("all.js", entries or ("a.js",), files.get)


def test_each_module_runs_once_and_after_what_it_imports() -> None:
    files = {
        "a.js": 'import { c } from "./in/c.js";\nimport { b } from "./b.js";\nb(c);',
        "b.js": 'import { c } from "./in/c.js";\nexport function b() {\n  return c;\n}',
        "in/c.js": 'import "../d.js";\nexport const c = 1;',
        "d.js": "start();",
    }
    assert link(files).modules == ("d.js", "in/c.js", "b.js", "a.js")


def test_a_module_takes_only_what_it_imports_under_its_own_names() -> None:
    files = {
        "a.js": 'import {\n  one,\n  two as second,\n} from "./b.js";\nimport * as all from "./b.js";',
        "b.js": "export const one = 1;\nexport class two {}\nexport async function three() {}\nown;",
    }
    lines = link(files).text.splitlines()
    assert "const { one, two: second } = m0;" in lines
    assert "const all = m0;" in lines
    assert "return Object.freeze({ one, two, three });" in lines
    assert "class two {}" in lines


def test_entries_run_in_order_and_each_by_itself() -> None:
    files = {"a.js": 'import "./c.js";', "b.js": 'import "./c.js";', "c.js": "shared();"}
    script = link(files, "b.js", "a.js")
    assert script.modules == ("c.js", "b.js", "a.js")
    assert script.text.count("shared();") == 1
    assert script.text.count("} catch (problem) { reportError(problem); }") == 2


def test_comments_of_whole_lines_are_left_out_and_text_stays() -> None:
    source = '/**\n * import { x } from "./x.js";\n */\n// export\nconst a = "// /* text";\n'
    assert [line.text for line in read_module("a.js", source).lines] == ['const a = "// /* text";']


def test_its_map_leads_each_line_to_its_source() -> None:
    files = {
        "a.js": '\n\nimport { b } from "./b.js";\n\nb();',
        "b.js": "// one\nexport const b = 2;",
    }
    script = link(files)
    assert script.text.endswith("\n//# sourceMappingURL=all.js.map\n")
    found = json.loads(script.source_map)
    assert (found["version"], found["file"], found["sources"]) == (3, "all.js", ["b.js", "a.js"])
    lines = script.text.splitlines()
    segments = found["mappings"].split(";")
    assert len(segments) == len(lines)
    # VLQ: A is 0, C is 1, G is 3. First b.js from its second line, then a.js, three lines further down.
    named = {line: segment for line, segment in zip(lines, segments, strict=True) if segment}
    assert named == {"const b = 2;": "AACA", "b();": "ACGA"}


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("export default 1;", "export"),
        ("export { a };", "export"),
        ("export let a = 1;", "export"),
        ('export * from "./b.js";', "export"),
        ('import a from "./b.js";', "form"),
        ('import { a b } from "./b.js";', "no names"),
        ('import { a } from "lodash";', "no module of ours"),
        ('import { a } from "./../../secret.js";', "no module of ours"),
        ('import { a } from "./b.css";', "no module of ours"),
        ('const b = import("./b.js");', "import"),
        ("const here = import.meta.url;", "import.meta"),
        ("const text = `one\ntwo`;", "template literal"),
        ("const a = 1; /* and\nso on */", "behind code"),
        ("/* one */ const a = 1;", "after a comment"),
        ("/* never ends", "does not end"),
        ('const text = "one \\\ntwo";', "next line"),
        ("const answer = await ask();", "can't wait"),
        ('import { a } from\n"./b.js"', "does not end"),
    ],
)
def test_what_is_not_understood_is_refused(source: str, words: str) -> None:
    with pytest.raises(LinkError, match=words):
        read_module("a.js", source)


def test_async_functions_may_wait() -> None:
    source = "export async function a() {\n  await b();\n}\nconst c = async () => await d();"
    assert read_module("a.js", source).exports == ("a",)


def test_imports_in_a_circle_are_refused() -> None:
    files = {"a.js": 'import "./b.js";', "b.js": 'import "./a.js";'}
    with pytest.raises(LinkError, match=r"a\.js -> b\.js -> a\.js"):
        link(files)


def test_a_missing_module_or_name_is_refused() -> None:
    with pytest.raises(LinkError, match=r"no module b\.js"):
        link({"a.js": 'import "./b.js";'})
    with pytest.raises(LinkError, match=r"imports \['c'\], which b\.js does not export"):
        link({"a.js": 'import { c } from "./b.js";', "b.js": "export const b = 1;"})


def test_styles_come_in_order_without_comments() -> None:
    files = {"a.css": "/* of a */\na { color: red; }\n", "b.css": "b {\n  color: blue;\n}"}
    text = link_styles(["b.css", "a.css"], files.get)
    assert text == "/* b.css */\nb {\ncolor: blue;\n}\n/* a.css */\na { color: red; }\n"


@pytest.mark.parametrize(
    "source",
    ['@import "x.css";', '@charset "utf-8";', "a { background: url(x.png); }", "a {", "a { } */"],
)
def test_styles_that_would_mean_something_else_are_refused(source: str) -> None:
    with pytest.raises(LinkError):
        link_styles(["a.css"], {"a.css": source}.get)
