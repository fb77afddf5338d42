"""A comment's plain text as pieces to show: words, safe links to other sites, and ranges of a trace.

Whoever comments is not trusted. A link is `http` or `https`, names no user, and shows exactly the address
that it opens, in ASCII: letters that look like others of another script show as punycode, and nothing in it
turns the direction of writing. Whatever is not surely such an address stays text. Makes no HTML.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

_ADDRESS = re.compile(r"\bhttps?://[^\s<>\"`{}|\\^]+", re.IGNORECASE)
_RANGE = re.compile(
    r"(?<![\w.,-])(\d{1,12}(?:\.\d{1,9})?) ?[-–] ?(\d{1,12}(?:\.\d{1,9})?) ?ms\b"  # noqa: RUF001
)
_PIECE = re.compile(f"(?P<address>{_ADDRESS.pattern})|(?P<range>{_RANGE.pattern})", re.IGNORECASE)
_END_OF_SENTENCE = ".,;:!?'*_~"
_BRACKETS = {")": "(", "]": "["}
_UNSEEN = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zs", "Zl", "Zp"})
_KEPT = "/:@!$&'()*+,;=~%?"
_LONGEST = 2000

RangeAddress = Callable[[float, float], str]
"""Gives the address that shows a range of the trace, from its two ends in milliseconds; empty for none."""


@dataclass(frozen=True)
class Piece:
    """A part of a text.

    Attributes:
        text: what is shown.
        href: where it leads, empty for words.
        is_outside: whether that is another site.
    """

    text: str
    href: str = ""
    is_outside: bool = False


def pieces_of(text: str, range_address: RangeAddress) -> tuple[Piece, ...]:
    """The text in pieces.

    Args:
        text: as it was written.
        range_address: where `12.5-14 ms` in it leads.
    """
    return tuple(_pieces(text, range_address))


def _pieces(text: str, range_address: RangeAddress) -> Iterator[Piece]:
    done = 0
    for match in _PIECE.finditer(text):
        found = match["address"] and _cut(match["address"])
        piece = _link(found) if found else _range(match, range_address)
        if piece is None:
            continue
        end = match.start() + len(found or match[0])
        if match.start() > done:
            yield Piece(text[done : match.start()])
        yield piece
        done = end
    if done < len(text):
        yield Piece(text[done:])


def _cut(address: str) -> str:
    """What of it is the address, and not the sentence around it."""
    for position, character in enumerate(address):
        if unicodedata.category(character) in _UNSEEN:
            address = address[:position]
            break
    while address:
        last = address[-1]
        is_unmatched = last in _BRACKETS and address.count(last) > address.count(_BRACKETS[last])
        if last not in _END_OF_SENTENCE and not is_unmatched:
            break
        address = address[:-1]
    return address


def _link(address: str) -> Piece | None:
    try:
        parts = urlsplit(address)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return None
    # `https://bank.example@attacker.example` opens the second one.
    if not host or "@" in parts.netloc or "%" in parts.netloc:
        return None
    ascii_host = _ascii_host(host)
    if not ascii_host:
        return None
    place = ascii_host if port is None else f"{ascii_host}:{port}"
    rest = quote(parts.path, safe=_KEPT)
    query = f"?{quote(parts.query, safe=_KEPT)}" if parts.query else ""
    fragment = f"#{quote(parts.fragment, safe=_KEPT)}" if parts.fragment else ""
    href = f"{parts.scheme.lower()}://{place}{rest}{query}{fragment}"
    return Piece(href, href, is_outside=True) if len(href) <= _LONGEST else None


def _ascii_host(host: str) -> str:
    """The host as it stands in DNS; empty for what can't be one."""
    if ":" in host:
        return f"[{host}]"
    try:
        name = host.encode("idna").decode("ascii")
    except UnicodeError:
        return ""
    return name if re.fullmatch(r"[a-z0-9._-]+", name, re.IGNORECASE) else ""


def _range(match: re.Match[str], range_address: RangeAddress) -> Piece | None:
    if match["range"] is None:
        return None
    ends = _RANGE.fullmatch(match["range"])
    if ends is None:
        return None
    start, end = float(ends[1]), float(ends[2])
    href = range_address(start, end) if start < end else ""
    return Piece(match["range"], href) if href else None
