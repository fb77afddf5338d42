"""Browsers that visit links: each keeps its own cookies, and follows nothing by itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import parse_qs, urlsplit

import httpx2

from tests.contract.api_calls import new_session, session_path
from tests.contract.browsing import DATA, PAGE, XPROF
from tests.services.api import Api

PASSWORD = "correct horse"


class Visitor:
    """A browser at one link.

    Attributes:
        http: keeps the cookies.
        path: of the link.
    """

    def __init__(self, http: httpx2.Client, path: str) -> None:
        self.http = http
        self.path = path

    def page(self, rest: str = f"{XPROF}/", **headers: str) -> httpx2.Response:
        """What opening a page gives."""
        return self.http.get(f"{self.path}{rest}", headers={**PAGE, **headers})

    def data(self, route: str = "runs", **headers: str) -> httpx2.Response:
        """What a page asks for in the background."""
        return self.http.get(f"{self.path}{XPROF}/{route}", headers={**DATA, **headers})

    def unlock(self, password: str, back: str = "") -> httpx2.Response:
        """Sends the form."""
        form = {"password": password, "next": back}
        return self.http.post(f"{self.path}/unlock", data=form, headers=PAGE)


@contextmanager
def visiting(uri: object, address: str = "") -> Iterator[Visitor]:
    """A new browser at a link.

    Args:
        uri: address of the link.
        address: of the server, where that is another one.
    """
    parts = urlsplit(str(uri))
    base = address or f"{parts.scheme}://{parts.netloc}"
    with httpx2.Client(base_url=base, trust_env=False, timeout=30) as client:
        yield Visitor(client, parts.path)


def make_link(api: Api, run: str = "r", **body: object) -> dict[str, str]:
    """A new link to a new session of a new run."""
    answer = api.http.post(f"{new_session(api, run)}/shareLinks", json=body)
    assert answer.status_code == 200, answer.text
    made: dict[str, str] = answer.json()
    return made


def another_link(api: Api, run: str = "r", **body: object) -> dict[str, str]:
    """A new link to the session of a run that is there."""
    answer = api.http.post(f"{session_path(run, 's')}/shareLinks", json=body)
    assert answer.status_code == 200, answer.text
    made: dict[str, str] = answer.json()
    return made


def next_of(address: str) -> str:
    """Where a form leads on to, as its address says."""
    return parse_qs(urlsplit(address).query)["next"][0]
