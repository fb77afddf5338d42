"""A browser as far as the contract goes: follows nothing by itself, keeps cookies, says what it accepts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import httpx2

from auth.identity import Role
from tests.contract.api_calls import token_for
from tests.services.api import Api

PAGE = {"Accept": "text/html,*/*"}
DATA = {"Accept": "*/*"}
XPROF = "/data/plugin/profile"


@contextmanager
def browser(api: Api) -> Iterator[httpx2.Client]:
    """A browser at the hub's address without path prefix; has not signed in."""
    address = api.url.removesuffix(api.settings.path_prefix)
    with httpx2.Client(base_url=address, trust_env=False, headers=PAGE, timeout=30) as client:
        yield client


def sign_in(
    client: httpx2.Client, api: Api, token: str, back: str = "", **headers: str
) -> httpx2.Response:
    """Sends the form."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    path = f"{api.settings.path_prefix}/signin"
    return client.post(path, data={"token": token, "next": back}, headers=sent)


@contextmanager
def signed_in(api: Api, role: Role = Role.VIEWER) -> Iterator[httpx2.Client]:
    """A browser that has signed in with a new token of this role."""
    with browser(api) as client:
        _, secret = token_for(api, role)
        answer = sign_in(client, api, secret)
        assert answer.status_code == 303, answer.text
        yield client


def location(answer: httpx2.Response) -> str:
    """Where a redirect leads, checked to be one; without the host when that is the one that was asked."""
    assert answer.status_code in {302, 303}, answer.text
    assert answer.headers["cache-control"] == "no-store"
    found = str(answer.headers["location"])
    assert urlsplit(found).netloc or found.startswith("/")
    return found
