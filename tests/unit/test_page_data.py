"""The data block of the index: right values, and inert whatever the names are."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest

from server.ui.page_data import PageData, SessionEntry, SessionPages
from server.ui.shell import ShellPage, render_index

CET = timezone(timedelta(hours=1))
HOSTILE = [
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "]]>",
    "\u2028\u2029",
    "'\"\\",
    "&lt;/script&gt;",
    "{{ 7 * 7 }}",
]


def block(data: PageData) -> str:
    """The text of the data block in the page."""
    html = render_index(ShellPage("/s/t", "/a/", "/x/", "r", "s", 1, data=data))
    found = re.findall(r'<script type="application/json" id="xh-page">(.*?)</script>', html, re.S)
    assert len(found) == 1
    return str(found[0])


def test_the_scripts_read_what_the_contract_says() -> None:
    entry = SessionEntry(
        "s 1", "Step 1", "/s/t/sessions/s%201/data/", datetime(2026, 3, 1, tzinfo=UTC), True
    )
    data = PageData(
        run="Llama",
        session="Step 1",
        hosts=4,
        shared_by="alice",
        expires=datetime(2026, 3, 1, 13, tzinfo=CET),
        note="look",
        sessions=(entry,),
        view={"tool": "overview_page"},
        is_redacted=True,
    )
    assert json.loads(block(data)) == {
        "run": "Llama",
        "session": "Step 1",
        "hosts": 4,
        "sharedBy": "alice",
        "expires": "2026-03-01T12:00:00Z",
        "note": "look",
        "sessions": [
            {
                "id": "s 1",
                "name": "Step 1",
                "href": "/s/t/sessions/s%201/data/",
                "created": "2026-03-01T00:00:00Z",
                "current": True,
            }
        ],
        "moreSessions": False,
        "view": {"tool": "overview_page"},
        "redacted": True,
        "pages": None,
    }


def test_people_who_have_signed_in_are_led_to_the_pages_about_the_session() -> None:
    pages = SessionPages("/about", "/share", "/about#comments", "/comment", 3)
    data = PageData("r", "s", 1, pages=pages)
    assert json.loads(block(data))["pages"] == {
        "about": "/about",
        "share": "/share",
        "comments": "/about#comments",
        "newComment": "/comment",
        "commentCount": 3,
    }
    html = render_index(ShellPage("/p", "/a/", "/x/", "r", "s", 1, data=data))
    assert 'href="/share"' in html
    assert 'aria-label="Comments (3)"' in html
    # Their own address opens for nobody else: it is no link to be copied.
    assert 'id="xh-copy"' not in html


def test_what_is_not_known_is_empty() -> None:
    found = json.loads(block(PageData("r", "s", 1)))
    assert (found["sharedBy"], found["expires"], found["note"]) == ("", None, "")
    assert (found["sessions"], found["view"], found["redacted"]) == ([], {}, False)


@pytest.mark.parametrize("text", HOSTILE)
def test_no_name_ends_the_block(text: str) -> None:
    entry = SessionEntry(text, text, text, datetime(2026, 3, 1, tzinfo=UTC), False)
    data = PageData(text, text, 1, text, None, text, (entry,), view={"op": text})
    written = block(data)
    assert not re.search("[<>&'\u2028\u2029]", written)
    found = json.loads(written)
    for value in (found["run"], found["note"], found["sessions"][0]["name"], found["view"]["op"]):
        assert value == text


def test_the_block_is_no_script() -> None:
    """A type that browsers don't run: the policy needs no exception for it."""
    html = render_index(ShellPage("/s/t", "/a/", "/x/", "r", "s", 1, data=PageData("r", "s", 1)))
    inline = re.findall(r"<script(?![^>]*\bsrc=)[^>]*>", html)
    assert inline == ['<script type="application/json" id="xh-page">']
    assert "xh-page" not in render_index(
        replace(ShellPage("/s/t", "/a/", "/x/", "r", "s", 1), data=None)
    )
