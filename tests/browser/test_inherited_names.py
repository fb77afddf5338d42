"""Names that every object of a script inherits are like any others: of tools, of reasons, in addresses."""

from __future__ import annotations

import pytest

from tests.browser.conftest import MakeViewer
from tests.browser.modules import Modules

INHERITED = ("constructor", "__proto__", "toString", "hasOwnProperty")


@pytest.mark.parametrize("name", INHERITED)
def test_as_a_tool_of_an_address(modules: Modules, name: str) -> None:
    script = """
      const { dropForeign, forgotten, forgottenNames } = await load("remember/parameters.js");
      const query = new URLSearchParams({ tag: argument, view_start: 1, group_by: "category" });
      dropForeign(query);
      return [query.toString(), forgotten(argument, "router"), forgottenNames(argument)];
    """
    assert modules.run(script, name) == [f"tag={name}", [], []]


@pytest.mark.parametrize("name", INHERITED)
def test_as_a_reason_or_the_tool_of_an_answer(modules: Modules, name: str) -> None:
    script = """
      const { isPassing } = await load("comeback.js");
      const { isEmptyAnswer } = await load("emptiness.js");
      return [isPassing({ reason: argument, retryAfter: 5 }), isEmptyAnswer(argument, "{}")];
    """
    assert modules.run(script, name) == [False, False]


def test_an_address_with_one_opens_xprof(demo_link: str, viewer: MakeViewer) -> None:
    shown = viewer(demo_link)
    shown.page.goto(f"{shown.base}?tag=constructor&view_start=1")
    shown.wait_for("main-page sidenav")
    assert shown.complaints() == {}
