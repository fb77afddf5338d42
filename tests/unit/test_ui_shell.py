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

OWN = "/team/xprof/_assets/0123/"
XPROF = "/team/xprof/_assets/4567/"
ATTACK = "\"'><img src=x onerror=alert(1)>{{ 7 * 7 }}"


def page(prefix: str = "/team/xprof/s/token", text: str = "name") -> ShellPage:
    return ShellPage(prefix, OWN, XPROF, text, text, 4, text)


def test_index_lives_under_the_links_prefix_and_takes_its_files_from_the_shared_place() -> None:
    html = render_index(page())
    assert '<base href="/team/xprof/s/token/data/plugin/profile/">' in html
    addresses = re.findall(r'(?:src|href)="([^"]*)"', html)
    places = ("/team/xprof/s/token/", OWN, XPROF)
    assert [address for address in addresses if not address.startswith(places)] == []


def test_index_loads_the_parts_in_the_order_that_they_need() -> None:
    html = render_index(page())
    scripts = re.findall(r'<script defer src="([^"]*)"></script>', html)
    # Ours starts XProf's in the order of these links, once the page is drawn (start.js).
    started = re.findall(r'<link class="xh-start" rel="preload" as="script" href="([^"]*)">', html)
    assert scripts == [f"{OWN}hub.js"]
    assert started == [f"{XPROF}{name}.js" for name in ("zone", "runtime", "bundle")]
    styles = re.findall(r'<link rel="stylesheet" href="([^"]*)">', html)
    assert styles == [f"{XPROF}styles.css", f"{OWN}hub.css"]


def test_no_page_has_an_inline_script_or_handler() -> None:
    pages = [
        render_index(page()),
        render_figure(OWN, "graph"),
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
    assert "<head></head>" in render_figure(OWN, "timeline")


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
