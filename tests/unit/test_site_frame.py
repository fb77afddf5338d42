"""The frame of the site's pages and the parts they are made of: safe settings, icons that are there."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pytest

from server.ui import site
from server.ui.assets import OWN_FILES
from server.ui.messages import NOTHING_THERE
from server.ui.site import Frame, render_page

TEMPLATES = Path(site.__file__).parent / "templates" / "site"
NAMED = re.compile(
    r"""
    (?:\bicon|icon_name=)\(?\s*"([\w-]+)"              # icon("x"), icon_name="x"
    | \b(?:button|menu)\("[^"]*",\s*"([\w-]+)"         # button("Save", "x")
    | \blink_button\("[^"]*",[^,]+,\s*"([\w-]+)"       # link_button("Share", address, "x")
    """,
    re.VERBOSE,
)
EVERYTHING = frozenset({"runs.read", "links.list", "members.manage", "audit.read"})


def page(rights: frozenset[str] = EVERYTHING, *, has_signed_in: bool = True) -> str:
    frame = Frame("/team/x", "/team/x/_assets/h/", "<Ann>", "editor", has_signed_in, rights)
    return render_page("message.html", frame, message=NOTHING_THERE)


def test_every_icon_that_a_template_names_is_in_the_sprite() -> None:
    sprite = (OWN_FILES / "vendor" / "lucide.svg").read_text("utf-8")
    there = set(re.findall(r'<symbol id="([\w-]+)"', sprite))
    named = {
        next(filter(None, match.groups())): template.name
        for template in TEMPLATES.glob("*.html")
        for match in NAMED.finditer(template.read_text("utf-8"))
    }
    assert len(named) > 20
    assert {name: where for name, where in named.items() if name not in there} == {}


def test_htmx_evaluates_nothing_and_asks_this_hub_only() -> None:
    told = re.search(r"""<meta name="htmx-config" content='([^']*)'>""", page())
    assert told
    config = json.loads(told[1])
    assert (config["allowEval"], config["allowScriptTags"]) == (False, False)
    assert config["selfRequestsOnly"] is True
    # Its styles would be inline; its history would keep pages of one who has signed out.
    assert config["includeIndicatorStyles"] is False
    assert config["historyCacheSize"] == 0


@pytest.mark.parametrize(
    "word", ["|safe", "| safe", "hx-on", "javascript:", "hx-vals='js", "style="]
)
def test_no_template_trusts_a_text_or_runs_code(word: str) -> None:
    found = [path.name for path in TEMPLATES.glob("*.html") if word in path.read_text("utf-8")]
    assert found == []


def test_the_bar_leads_where_one_may_go() -> None:
    some = re.findall(r'<a href="/team/x(/[\w/]*)"', page(frozenset({"runs.read"})))
    assert some == ["/runs", "/docs"]
    everything = page()
    for path in ("/runs", "/links", "/admin/members", "/admin/audit"):
        assert f'href="/team/x{path}"' in everything
    assert 'href="/team/x/admin/sharing"' not in everything


def test_names_stay_text_and_who_need_not_sign_in_can_t_sign_out() -> None:
    text = page()
    assert "<Ann>" not in text
    assert html.escape("<Ann>") in text
    assert 'action="/team/x/signout"' in text
    assert "/signout" not in page(has_signed_in=False)


def test_the_bar_says_what_one_may_be_here() -> None:
    assert '<span class="top-role">editor</span>' in page()


def test_every_address_of_a_page_is_of_this_hub() -> None:
    addresses = re.findall(r'(?:href|src|action)="([^"]*)"', page())
    assert len(addresses) > 10
    assert [address for address in addresses if not address.startswith(("/team/x/", "#"))] == []
