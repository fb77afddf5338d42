"""Addresses that an administrator sets: taken as browsers write them, or refused with a reason."""

from __future__ import annotations

import pytest

from server.web_addresses import frame_ancestors, is_host_of, origin


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("https://xprof.example.org", "https://xprof.example.org"),
        ("https://XPROF.Example.org/", "https://xprof.example.org"),
        ("https://xprof.example.org:443", "https://xprof.example.org"),
        ("http://xprof.example.org:443", "http://xprof.example.org:443"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("http://[::1]:8080/", "http://[::1]:8080"),
        ("http://front_1:80", "http://front_1"),
    ],
)
def test_origins_are_written_as_browsers_write_them(written: str, expected: str) -> None:
    assert origin(written) == expected


@pytest.mark.parametrize(
    "written",
    [
        "",
        "xprof.example.org",
        "ftp://xprof.example.org",
        "javascript:alert(1)",
        "https://",
        "https://:8080",
        "https://xprof.example.org:port",
        "https://xprof.example.org:99999",
        "https://me@xprof.example.org",
        "https://xprof.example.org/team",
        "https://xprof.example.org?x",
        "https://xprof.example.org#x",
        "https://xprof.example.org; script-src *",
        "https://one.example,two.example",
        "https://xprof..example",
        "https://-xprof.example",
    ],
)
def test_what_is_no_origin_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match="for example https://"):
        origin(written)


@pytest.mark.parametrize(
    ("header", "address", "expected"),
    [
        ("content.example", "https://content.example", True),
        ("CONTENT.example", "https://content.example", True),
        ("content.example:443", "https://content.example", True),
        ("content.example:8443", "https://content.example", False),
        ("content.example:8080", "http://content.example:8080", True),
        ("content.example", "http://content.example:8080", False),
        ("content.example.evil.example", "https://content.example", False),
        ("evil-content.example", "https://content.example", False),
        ("me@content.example", "https://content.example", False),
        ("content.example/", "https://content.example", False),
        ("content.example/x", "https://content.example", False),
        ("", "https://content.example", False),
        ("content.example,other.example", "https://content.example", False),
    ],
)
def test_hosts_are_compared_whole(header: str, address: str, expected: bool) -> None:
    assert is_host_of(header, address) is expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("self", "'self'"),
        ("'self'", "'self'"),
        ("none", "'none'"),
        ("", "'none'"),
        (
            "self  https://Wiki.example/ https://wiki.example",
            "'self' https://wiki.example",
        ),
        ("https://*.example.org:8443", "https://*.example.org:8443"),
    ],
)
def test_ancestors_are_written_as_policies_want_them(written: str, expected: str) -> None:
    assert frame_ancestors(written) == expected


@pytest.mark.parametrize(
    "written",
    [
        "*",
        "https:",
        "https://*",
        "https://wiki.example/page",
        "https://a.example; script-src *",
        "https://a.example,https://b.example",
        "none https://wiki.example",
        "https://wiki.*.example",
    ],
)
def test_other_ancestors_are_refused(written: str) -> None:
    with pytest.raises(ValueError, match=r"for example https://|can't stand beside"):
        frame_ancestors(written)
