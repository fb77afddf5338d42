"""Small answers that a browser keeps and asks about each time: compressed, with `ETag`, 304 when unchanged.

For texts that are made anew for each request and differ from link to link. A browser may keep them, a shared
cache may not, and who keeps them must ask before using them, so that a revoked link shows nothing.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping

import brotli
from fastapi import Request, Response

from server.encodings import BROTLI, GZIP, IDENTITY, choose_encoding
from server.http.conditional import holds_etag

_SMALLEST = 512
"""Bytes below which compression saves nothing worth a header."""
_QUALITY = 5
"""Of brotli and gzip: well below a millisecond for 100 kB."""
_NEAR, _FAR = 16, 22
"""Windows of brotli, as powers of two. For a text that fits, the small one takes half of the time, and as few
bytes; the large one is brotli's own choice."""


def revalidated_response(
    request: Request, text: str, content_type: str, headers: Mapping[str, str]
) -> Response:
    """The text as the browser wants it, or 304 when it holds it already.

    Args:
        request: what the browser sent.
        text: the answer.
        content_type: its media type.
        headers: more headers; they go with a 304, too, for it replaces those that a browser has kept.
    """
    # A name out of a profile may hold half a character, which has no UTF-8; one name must not cost the page.
    body = text.encode(errors="replace")
    encoding = IDENTITY
    if len(body) >= _SMALLEST:
        encoding = choose_encoding(request.headers.get("accept-encoding"), (BROTLI, GZIP))
    etag = f'"{hashlib.sha256(body).hexdigest()[:24]}-{encoding}"'
    sent = {
        **headers,
        "ETag": etag,
        "Cache-Control": "private, no-cache",
        "Vary": "Accept-Encoding",
    }
    if holds_etag(request.headers.get("if-none-match"), etag):
        return Response(status_code=304, headers=sent)
    if encoding != IDENTITY:
        sent["Content-Encoding"] = encoding
    return Response(_compress(body, encoding), headers=sent, media_type=content_type)


def _compress(body: bytes, encoding: str) -> bytes:
    if encoding == BROTLI:
        window = _NEAR if len(body) <= 1 << _NEAR else _FAR
        made: bytes = brotli.compress(body, quality=_QUALITY, lgwin=window)
        return made
    return gzip.compress(body, _QUALITY, mtime=0) if encoding == GZIP else body
