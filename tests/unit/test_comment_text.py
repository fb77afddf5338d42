"""What becomes a link in a comment's text, and that nothing else does."""

from __future__ import annotations

import pytest

from server.comments.text import Piece, pieces_of


def address(start: float, end: float) -> str:
    return f"/trace?{start:g}-{end:g}"


def links(text: str) -> list[str]:
    return [piece.href for piece in pieces_of(text, address) if piece.href]


def test_words_around_a_link_stay_words() -> None:
    text = "See https://example.org/a?b=1&c=<x>, please."
    assert pieces_of(text, address) == (
        Piece("See "),
        Piece("https://example.org/a?b=1&c=", "https://example.org/a?b=1&c=", is_outside=True),
        Piece("<x>, please."),
    )


@pytest.mark.parametrize(
    ("text", "href"),
    [
        ("http://example.org", "http://example.org"),
        ("HTTPS://Example.ORG/Path", "https://example.org/Path"),
        ("https://example.org.", "https://example.org"),
        ("(https://example.org/a)", "https://example.org/a"),
        ("https://en.example.org/wiki/X_(y)", "https://en.example.org/wiki/X_(y)"),
        ("https://example.org/?!", "https://example.org/"),
        ("https://example.org:8443/x#y", "https://example.org:8443/x#y"),
        ("https://example.org/ä b", "https://example.org/%C3%A4"),
        ("https://[2001:db8::1]/x", "https://[2001:db8::1]/x"),
        # Letters of another script that look like ours show as what they are.
        ("https://p\u0430ypal.example/x", "https://xn--pypal-4ve.example/x"),
        # What turns the direction of writing, or can't be seen, ends an address.
        ("https://example.org/\u202egpj.exe", "https://example.org/"),
        ("https://example.org/\u200bx", "https://example.org/"),
        ("https://example.org/\u00a0x", "https://example.org/"),
    ],
)
def test_an_address_opens_what_it_shows(text: str, href: str) -> None:
    found = [piece for piece in pieces_of(text, address) if piece.href]
    assert [(piece.text, piece.href) for piece in found] == [(href, href)]
    assert href.isascii()


@pytest.mark.parametrize(
    "text",
    [
        "javascript:alert(1)",
        "data:text/html,<script>alert(1)</script>",
        "ftp://example.org",
        "//example.org",
        "www.example.org",
        "xhttps://example.org",
        "https://",
        "https:///path",
        "https://user@example.org",
        "https://bank.example@evil.example/",
        "https://example.org:99999/",
        "https://ex%61mple.org/",
        "https://[::1",
        "https://a..b/",
        f"https://example.org/{'x' * 3000}",
    ],
)
def test_what_is_not_surely_an_address_stays_text(text: str) -> None:
    assert pieces_of(text, address) == (Piece(text),)


def test_no_character_is_lost_and_line_breaks_stay() -> None:
    text = "a\n https://example.org/x, b\n12.5-14 ms\tc"
    assert "".join(piece.text for piece in pieces_of(text, address)) == text


@pytest.mark.parametrize(
    ("text", "href"),
    [
        ("at 12.5-14 ms it waits", "/trace?12.5-14"),
        ("12.5 \N{EN DASH} 14ms", "/trace?12.5-14"),
        ("0-3 ms", "/trace?0-3"),
        ("14-12.5 ms", ""),
        ("12.5 ms", ""),
        ("2026-11-30 ms", ""),
        ("v1.2-3 ms", ""),
        ("12-14 msgs", ""),
        (f"{'1' * 50}-{'2' * 50} ms", ""),
    ],
)
def test_ranges_lead_into_the_trace(text: str, href: str) -> None:
    assert links(text) == ([href] if href else [])


def test_a_hub_without_an_address_for_a_range_shows_words() -> None:
    assert pieces_of("1-2 ms", lambda _start, _end: "") == (Piece("1-2 ms"),)
