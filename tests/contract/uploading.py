"""Short ways to upload through the API in tests."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from typing import Any
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


def session_of(api: Api, session: str = "s") -> dict[str, Any]:
    """A session of run `r`."""
    answer = api.http.get(session_path("r", session))
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def stored(api: Api, host: str, session: str = "s") -> bytes:
    """What is in a host's place."""
    folder = Path(str(session_of(api, session)["storageFolderUri"]))
    return (folder / f"{host}.xplane.pb").read_bytes()


def parts_of(api: Api) -> list[str]:
    """Names of all parts and drafts."""
    folder = Path(api.settings.upload_root) / ".uploads"
    names = [path.name for path in folder.rglob("*") if path.is_file()]
    return [name for name in names if not name.startswith("whole-")]
