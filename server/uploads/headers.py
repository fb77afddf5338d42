"""What the headers of an upload say: which bytes, of which file, and what may be there already.

Content-Range as in RFC 9110 14.4, with the status query `bytes */N` that Cloud Storage knows; Repr-Digest and
Content-Digest as in RFC 9530, SHA-256 only; If-Match and If-None-Match as in RFC 9110 13.1.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass

from server.http.errors import invalid_field

_RANGE = re.compile(r"bytes (?:(\d{1,18})-(\d{1,18})|\*)/(?:(\d{1,18})|\*)")
_SHA_256 = re.compile(r"(?:^|,)\s*sha-256=:([A-Za-z0-9+/=]*):\s*(?=$|,|;)")
_DIGEST_BYTES = 32
_ETAG = re.compile(r'(?:W/)?"([^"]*)"')


@dataclass(frozen=True)
class ContentRange:
    """Which bytes of a file a request brings.

    Attributes:
        first: offset of its first byte, or None when it brings nothing and asks how far the upload is.
        last: offset of its last byte, or None likewise.
        total: size of the whole file, or None when the client does not say it yet.
    """

    first: int | None
    last: int | None
    total: int | None


@dataclass(frozen=True)
class Asked:
    """What an upload's request asks for.

    Attributes:
        span: which part it brings; None for the whole file.
        length: bytes of its body, or None when it does not say so.
        digest: SHA-256 of the whole file, or None.
        part_digest: SHA-256 of the request's body, or None.
        replaces: etag of the file that is to be replaced, `*` for whichever there is, or None.
        only_new: whether a file of the same content is refused, too.
    """

    span: ContentRange | None
    length: int | None
    digest: bytes | None
    part_digest: bytes | None
    replaces: str | None
    only_new: bool

    @property
    def size(self) -> int | None:
        """Bytes of the whole file, if the client says so."""
        return self.length if self.span is None else self.span.total


def read_headers(headers: Mapping[str, str]) -> Asked:
    """The request of these headers, whose names are in lower case or compared without case.

    Raises:
        ApiError: naming the header that can't be understood.
    """
    span = _content_range(headers.get("content-range"))
    length = _length(headers.get("content-length"))
    digest = _digest("Repr-Digest", headers.get("repr-digest"))
    part_digest = _digest("Content-Digest", headers.get("content-digest"))
    if span is None:
        # The body is the whole file then, and both headers mean the same.
        digest = digest or part_digest
    elif digest is None:
        raise invalid_field(
            "Repr-Digest",
            "An upload in parts needs the SHA-256 of the whole file with each of them, as "
            "'Repr-Digest: sha-256=:<base64>:'; it tells this upload from others of the same host.",
        )
    elif length is not None and length != _expected_length(span):
        raise invalid_field(
            "Content-Range", f"It names {_expected_length(span)} bytes, and the body has {length}."
        )
    return Asked(
        span=span,
        length=length,
        digest=digest,
        part_digest=part_digest,
        replaces=read_etag(headers.get("if-match")),
        only_new=_is_only_new(headers.get("if-none-match")),
    )


def _expected_length(span: ContentRange) -> int:
    if span.first is None or span.last is None:
        return 0
    return span.last - span.first + 1


def _content_range(text: str | None) -> ContentRange | None:
    if text is None:
        return None
    found = _RANGE.fullmatch(text.strip())
    if found is None:
        raise invalid_field(
            "Content-Range",
            "Write it as 'bytes 0-1048575/2097152', with '*' for a size that isn't known yet, or as "
            "'bytes */2097152' to ask how far the upload is.",
        )
    first, last, total = (int(part) if part else None for part in found.groups())
    if first is not None and last is not None and first > last:
        raise invalid_field("Content-Range", "The last byte comes before the first one.")
    if last is not None and total is not None and last >= total:
        raise invalid_field("Content-Range", "The last byte lies behind the end of the file.")
    return ContentRange(first, last, total)


def _length(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() else None


def _digest(header: str, text: str | None) -> bytes | None:
    if text is None:
        return None
    found = _SHA_256.search(text)
    try:
        digest = base64.b64decode(found[1], validate=True) if found else b""
    except binascii.Error:
        digest = b""
    if len(digest) != _DIGEST_BYTES:
        raise invalid_field(header, "Write it as 'sha-256=:<base64 of the 32 bytes>:'.")
    return digest


def read_etag(text: str | None) -> str | None:
    """The etag in an If-Match header; `*` for any, None without the header.

    Raises:
        ApiError: it holds something else.
    """
    if text is None or text.strip() == "*":
        return text and "*"
    found = _ETAG.fullmatch(text.strip())
    if found is None:
        raise invalid_field("If-Match", "Send one etag in quotes, or *.")
    return found[1]


def _is_only_new(text: str | None) -> bool:
    if text is None:
        return False
    if text.strip() != "*":
        raise invalid_field("If-None-Match", "Only * is known here: nothing may be there yet.")
    return True
