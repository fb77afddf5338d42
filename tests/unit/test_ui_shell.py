"""Our own pages: every text escaped, and no inline script."""

from __future__ import annotations

import re

import pytest

from server.ui import shell
from server.ui.shell import (
    ShellPage,
    render_figure,
    render_index,
    render_message,
)

ATTACK = "\"'><img src=x onerror=alert(1)>{{ 7 * 7 }}"


def page(prefix: str = "/team/xprof/s/token", text: str = "name") -> ShellPage:
    return ShellPage(prefix, "abc", text, text, 4, text)


def test_index_lives_under_the_links_prefix() -> None:
    html = render_index(page())
    assert '<base href="/team/xprof/s/token/data/plugin/profile/">' in html
    addresses = re.findall(r'(?:src|href)="([^"]*)"', html)
    assert all(
        address.startswith("/team/xprof/s/token/data/plugin/profile/") for address in addresses
    )


def test_index_loads_the_parts_in_the_order_that_they_need() -> None:
    sources = re.findall(r'<script[^>]* src="[^"]*/abc/([^"]*)"></script>', render_index(page()))
    assert sources == ["boot.js", "zone.js", "charts/index.js", "runtime.js", "bundle.js"]


def test_no_page_has_an_inline_script_or_handler() -> None:
    pages = [
        render_index(page()),
        render_figure("/s/t", "abc", "graph"),
        render_message("Title", "Text", "Next"),
    ]
    for html in pages:
        assert not re.search(r"<script(?![^>]*\bsrc=)", html)
        assert not re.search(r"<[^>]*\son\w+=", html)


def test_names_are_escaped() -> None:
    for html in (
        render_index(page(text=ATTACK)),
        render_message(ATTACK, ATTACK, ATTACK, [ATTACK]),
    ):
        assert "<img" not in html
        assert "{{ 7 * 7 }}" in html


def test_graph_page_has_an_empty_head() -> None:
    """XProf looks for nodes as soon as the head has a child."""
    assert "<head></head>" in render_figure("/s/t", "abc", "timeline")


@pytest.mark.parametrize(
    "message",
    [
        shell.LINK_EXPIRED,
        shell.LINK_UNKNOWN,
        shell.SESSION_EMPTY,
        shell.SESSION_DAMAGED,
        shell.STORAGE_PROBLEM,
    ],
)
def test_messages_say_what_happened_and_what_to_do(message: shell.Message) -> None:
    html = message.render(["a.xplane.pb is empty."])
    for text in (message.title, message.text, message.next_step, "a.xplane.pb is empty."):
        assert text.replace("'", "&#39;") in html
