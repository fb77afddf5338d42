"""Users of a profile: each asks what XProf's page asks, over a connection of its own."""

from __future__ import annotations

import gzip
import http.client
import threading
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit

import brotli
import zstandard

_BROWSER_HEADERS = {"Accept": "*/*", "Accept-Encoding": "gzip, deflate, br, zstd"}
_TIMEOUT_SECONDS = 900.0


@dataclass(frozen=True)
class Answer:
    """One HTTP answer as it came over the wire."""

    status: int
    encoding: str
    body: bytes

    @property
    def data(self) -> bytes:
        """The body without its encoding."""
        return _DECODERS[self.encoding](self.body)


_DECODERS: dict[str, Callable[[bytes], bytes]] = {
    "": lambda body: body,
    "identity": lambda body: body,
    "gzip": gzip.decompress,
    "deflate": zlib.decompress,
    "br": brotli.decompress,
    "zstd": lambda body: zstandard.ZstdDecompressor().decompressobj().decompress(body),
}


class User:
    """One user with one connection.

    Args:
        base: address of the session's XProf, up to and with `/data/plugin/profile`.
        run: name of the session.
    """

    def __init__(self, base: str, run: str) -> None:
        parts = urlsplit(base)
        self._connection = http.client.HTTPConnection(
            parts.hostname or "", parts.port, timeout=_TIMEOUT_SECONDS
        )
        self._path = parts.path
        self._run = run

    def close(self) -> None:
        """Closes the connection."""
        self._connection.close()

    def open_overview(self) -> list[Answer]:
        """What the first page needs: tools, hosts, and the overview's data."""
        return [
            self._get("run_tools"),
            self._get("hosts", tag="overview_page"),
            self._get("data", tag="overview_page", host="ALL_HOSTS"),
        ]

    def open_trace(self, host: str) -> list[Answer]:
        """What the trace viewer asks first for one host."""
        return [self._get("data", tag="trace_viewer@", host=host, resolution="8000")]

    def open_sidebar(self) -> list[Answer]:
        """The tools of the session, and the hosts of the first one."""
        return [self._get("run_tools"), self._get("hosts", tag="overview_page")]

    def ask(self, tool: str, **parameters: str) -> list[Answer]:
        """One tool's data."""
        return [self._get("data", tag=tool, **parameters)]

    def _get(self, route: str, **parameters: str) -> Answer:
        path = f"{self._path}/{route}?{urlencode({'run': self._run, **parameters})}"
        try:
            return self._request(path)
        except (http.client.HTTPException, ConnectionError):
            # The server has closed the idle connection; browsers open another one, too.
            self._connection.close()
            return self._request(path)

    def _request(self, path: str) -> Answer:
        self._connection.request("GET", path, headers=_BROWSER_HEADERS)
        response = self._connection.getresponse()
        return Answer(
            response.status, response.headers.get("Content-Encoding", ""), response.read()
        )


_LEAST_DATA = 1000
"""Bytes. A page of any session has more; XProf answers `[]` or an empty trace when it has nothing."""


def is_complete(answers: list[Answer]) -> bool:
    """Whether all answers came and the last one, the data, holds something."""
    return all(answer.status == 200 for answer in answers) and len(answers[-1].data) > _LEAST_DATA


@dataclass(frozen=True)
class Opening:
    """What several users got who opened the same thing at once.

    Attributes:
        seconds: until the last of them had everything.
        complete: users with complete answers.
        users: all users.
        answers: of each user.
    """

    seconds: float
    complete: int
    users: int
    answers: tuple[list[Answer], ...]


def open_at_once(users: list[User], page: Callable[[User], list[Answer]]) -> Opening:
    """Lets all users open a page at the same moment."""
    barrier = threading.Barrier(len(users) + 1)
    answers: dict[int, list[Answer]] = {}

    def work(number: int, user: User) -> None:
        barrier.wait()
        answers[number] = page(user)

    threads = [
        threading.Thread(target=work, args=(number, user)) for number, user in enumerate(users)
    ]
    for thread in threads:
        thread.start()
    barrier.wait()
    begin = time.perf_counter()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - begin
    complete = sum(is_complete(found) for found in answers.values())
    return Opening(seconds, complete, len(users), tuple(answers.values()))
