"""Paths in addresses: what a stranger names leads to this hub or nowhere."""

from __future__ import annotations

import pytest

from server.http.local_paths import address_path, local_path


@pytest.mark.parametrize(
    ("text", "prefix"),
    [
        ("/runs", ""),
        ("/runs/a%20b/sessions/c?tag=x&host=a//b", ""),
        ("/team/x/runs/...", "/team/x"),
        ("/runs?next=https://elsewhere.example/../", ""),
    ],
)
def test_our_own_paths_are_kept(text: str, prefix: str) -> None:
    assert local_path(text, prefix, "else") == text


@pytest.mark.parametrize(
    ("text", "prefix"),
    [
        ("//evil.example/runs", ""),
        ("///evil.example", ""),
        ("/\\evil.example", ""),
        ("/runs\\..\\x", ""),
        ("/\n/evil.example", ""),
        ("/runs\r\nX: y", ""),
        ("https://evil.example", ""),
        ("https:/runs", ""),
        ("", ""),
        ("runs", ""),
        ("?x", ""),
        ("/runs/../x", ""),
        ("/runs/%2e./x", ""),
        ("/./x", ""),
        ("/runs", "/team"),
        ("/team", "/team"),
        ("/teams/x", "/team"),
        ("/team/../x", "/team"),
        ("/" + 9000 * "x", ""),
    ],
)
def test_everything_else_is_replaced(text: str, prefix: str) -> None:
    assert local_path(text, prefix, "else") == "else"


def test_paths_and_queries_are_written_so_that_nothing_ends_them() -> None:
    assert address_path("/a b/ü?#%", "") == "/a%20b/%C3%BC%3F%23%25"
    assert address_path("/a", "x=%20&y=\r\nz") == "/a?x=%20&y=%0D%0Az"
    assert address_path("", "x") == "?x"
