"""Short ways to upload through the API in tests."""

from __future__ import annotations

import base64
import hashlib
from urllib.parse import quote

import httpx2

from tests.contract.api_calls import session_path
from tests.services.api import Api


def digest_of(content: bytes) -> str:
    """The SHA-256 of a content as RFC 9530 writes it."""
    return f"sha-256=:{base64.b64encode(hashlib.sha256(content).digest()).decode()}:"


def host_path(host: str, run: str = "r", session: str = "s") -> str:
    """Path of a host."""
    return f"{session_path(run, session)}/hosts/{quote(host, safe='')}"


def put(api: Api, host: str, content: bytes, session: str = "s", **headers: str) -> httpx2.Response:
    """Sends a request; underscores in the names of headers stand for hyphens."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return api.http.put(host_path(host, session=session), content=content, headers=sent)


def put_part(
    api: Api, host: str, content: bytes, first: int, size: int, **headers: str
) -> httpx2.Response:
    """Sends `size` bytes of a content from `first` on."""
    part = content[first : first + size]
    span = f"bytes {first}-{first + len(part) - 1}/{len(content)}"
    return put(api, host, part, Content_Range=span, Repr_Digest=digest_of(content), **headers)


def ask(api: Api, host: str, content: bytes) -> httpx2.Response:
    """Asks how far the upload of a content is."""
    span = f"bytes */{len(content)}"
    return put(api, host, b"", Content_Range=span, Repr_Digest=digest_of(content))
