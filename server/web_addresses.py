"""Web addresses that an administrator sets: the public ones, and who may show our pages in a frame.

Knows no request and no page. An origin is scheme, host and port, written as browsers write it.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

SELF = "'self'"
NOBODY = "'none'"
_DEFAULT_PORTS = {"http": 80, "https": 443}
_LABEL = r"[a-z0-9](?:[a-z0-9_-]*[a-z0-9])?"
_HOST = re.compile(rf"{_LABEL}(?:\.{_LABEL})*|\[[0-9a-f:.]+\]")
_BEYOND_HOST = re.compile(r"[^\w.:\[\]-]")
_KEYWORDS = {"self": SELF, "none": NOBODY}
_ANY_SUBDOMAIN = "*."


def origin(address: str) -> str:
    """An address as an origin: lower case, without the scheme's own port and without a slash at the end.

    Raises:
        ValueError: it is no http or https address, or has a path, a query, a fragment or a user's name.
    """
    example = "for example https://xprof.example.org"
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError as problem:
        raise ValueError(f"{address} is not an address ({problem}); {example}") from problem
    if parts.scheme not in _DEFAULT_PORTS:
        raise ValueError(f"{address} must begin with https:// or http://, {example}")
    host = parts.netloc.removesuffix(f":{port}").lower()
    if not _HOST.fullmatch(host):
        raise ValueError(f"{address} must name one host, {example}")
    if parts.path not in {"", "/"} or parts.query or parts.fragment:
        raise ValueError(f"{address} must end after the host or its port, {example}")
    shown_port = "" if port is None or port == _DEFAULT_PORTS[parts.scheme] else f":{port}"
    return f"{parts.scheme}://{host}{shown_port}"


def origin_or_nothing(address: str) -> str:
    """The same where the setting may be left empty.

    Raises:
        ValueError: as `origin`.
    """
    return origin(address) if address else ""


def host_name(address: str) -> str:
    """The host of an origin without its port: what cookies go by."""
    return urlsplit(address).hostname or ""


def is_host_of(host_header: str, address: str) -> bool:
    """Whether a request's Host header names exactly the host and port of an origin."""
    scheme = address.partition("://")[0]
    try:
        named = origin(f"{scheme}://{host_header}")
    except ValueError:
        return False
    return named == address and not _BEYOND_HOST.search(host_header)


def frame_ancestors(value: str) -> str:
    """The sources of `frame-ancestors`, with quotes where they belong.

    Args:
        value: `self`, `none`, or origins (`https://wiki.example.org`, `https://*.example.org`), separated by
            blanks; the words with or without quotes.

    Raises:
        ValueError: a source is none of these, or `none` is not alone.
    """
    sources = [_source(part) for part in value.split()] or [NOBODY]
    if NOBODY in sources and len(sources) > 1:
        raise ValueError("'none' means nobody and can't stand beside others")
    return " ".join(dict.fromkeys(sources))


def _source(part: str) -> str:
    word = part.strip("'\"").lower()
    if word in _KEYWORDS:
        return _KEYWORDS[word]
    scheme, separator, rest = word.partition("://")
    if separator and rest.startswith(_ANY_SUBDOMAIN):
        plain = origin(f"{scheme}://{rest.removeprefix(_ANY_SUBDOMAIN)}")
        return plain.replace("://", f"://{_ANY_SUBDOMAIN}", 1)
    return origin(word)
