"""One HTTP connection to a hub: sends, retries where that is harmless, and turns answers into models.

Knows no resource. A request is sent again only when the hub can't have acted on it (no connection, 429), or
when acting twice changes nothing: a read, or a creation that carries a `requestId`. A hub that says when to
come back is asked again then, as long as patience lasts.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar
from urllib.parse import urlsplit

import httpx2
from pydantic import ValidationError

from server.client.errors import HubError, led_away, no_answer, not_a_hub, refusal, strange_refusal
from server.client.patience import PATIENCE_SECONDS, Patience, Pause
from server.schemas import ApiModel, ErrorResponse
from server.settings import LOOPBACK

READ_SECONDS = 60.0
"""How long an answer may take to come, or to go on."""
CONNECT_SECONDS = 10.0
LARGEST_PAGE = 500
_WAITS = (0.2, 1.0)
"""Seconds before the second and the third try."""
_BUSY = frozenset({502, 503})
_TOO_MANY = 429

Answer = TypeVar("Answer", bound=ApiModel)


@dataclass(frozen=True)
class Call:
    """One request.

    Attributes:
        method: HTTP method.
        path: below `/v1`, percent-encoded.
        parameters: the query; empty values are left out.
        body: what is sent as JSON; only the fields that were set.
        headers: further headers.
        is_repeatable: whether sending it twice does what sending it once does.
        seconds: how long the answer may take.
        content: what is sent as bytes, when there is no `body`.
        accepts: statuses besides those of a success that are no refusal.
    """

    method: str
    path: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    body: ApiModel | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    is_repeatable: bool = False
    seconds: float = READ_SECONDS
    content: bytes | None = None
    accepts: frozenset[int] = frozenset()


class Transport:
    """Talks to one hub; every method raises `HubError`."""

    def __init__(
        self,
        url: str,
        token: str = "",
        *,
        patience: float = PATIENCE_SECONDS,
        on_pause: Callable[[Pause], None] | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Opens no connection yet.

        Args:
            url: the hub's address, with its path prefix if it has one.
            token: API token, or empty.
            patience: seconds that one answer is waited for in all while the hub is busy and says so.
            on_pause: hears of each such wait before it begins.
            sleep: waits so many seconds before another try.
        """
        self.url = url.rstrip("/")
        self._patience = patience
        self._on_pause = on_pause
        self._sleep = sleep
        # A proxy in the environment knows nothing of this machine's own addresses.
        self.http = httpx2.Client(
            headers={"Authorization": f"Bearer {token}"} if token else {},
            timeout=httpx2.Timeout(READ_SECONDS, connect=CONNECT_SECONDS),
            trust_env=not _is_loopback(url),
        )

    def close(self) -> None:
        """Closes the connections."""
        self.http.close()

    def get(
        self, path: str, kind: type[Answer], parameters: Mapping[str, str] | None = None
    ) -> Answer:
        """Reads one resource."""
        return self.send(Call("GET", path, parameters or {}, is_repeatable=True), kind)

    def pages(
        self, path: str, kind: type[Answer], parameters: Mapping[str, str] | None = None
    ) -> Iterator[Answer]:
        """The pages of a list, each fetched when it is asked for."""
        wanted = {**(parameters or {}), "pageSize": str(LARGEST_PAGE)}
        while True:
            page = self.get(path, kind, wanted)
            yield page
            token = str(getattr(page, "next_page_token", ""))
            if not token:
                return
            wanted["pageToken"] = token

    def send(self, call: Call, kind: type[Answer]) -> Answer:
        """Sends a request and reads its answer."""
        return self.read(self.exchange(call), kind)

    def exchange(self, call: Call) -> httpx2.Response:
        """Sends a request, again where that is harmless, and answers a success as it came."""
        waits, patience = iter(_WAITS), Patience(self._patience)
        while True:
            try:
                response = self._once(call)
            except (httpx2.HTTPError, httpx2.InvalidURL) as error:
                wait = next(waits, None)
                if wait is None or not _had_no_effect(call, error):
                    raise no_answer(self.url, error) from error
                self._pause(wait)
                continue
            if not _may_try_again(call, response) or not self._come_back(response, patience, waits):
                return self._checked(response, call.accepts)

    @contextmanager
    def stream(self, call: Call) -> Iterator[httpx2.Response]:
        """A success whose body is read in pieces by the caller; sent again only while the hub is busy.

        A connection that breaks while the body is read is an `UnreachableError`, too.
        """
        patience = Patience(self._patience)
        try:
            while True:
                with self.http.stream(
                    call.method,
                    f"{self.url}/v1{call.path}",
                    params=dict(call.parameters),
                    headers=dict(call.headers),
                ) as response:
                    if response.is_success or response.status_code in call.accepts:
                        yield response
                        return
                    response.read()
                is_passing = _may_try_again(call, response)
                if not is_passing or not self._come_back(response, patience, iter(())):
                    raise _problem(response)
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise no_answer(self.url, error) from error

    def _come_back(
        self, response: httpx2.Response, patience: Patience, waits: Iterator[float]
    ) -> bool:
        """Waits until a busy hub may be asked again; False when it is not to be asked any more.

        Args:
            response: what the hub has answered.
            patience: for a hub that says when.
            waits: for one that doesn't.
        """
        asked = _asked_wait(response)
        if not asked:
            wait = next(waits, None)
            if wait is not None:
                self._pause(wait)
            return wait is not None
        pause = patience.pause(asked, _problem(response).ahead)
        if pause is None:
            return False
        if self._on_pause is not None:
            self._on_pause(pause)
        self._sleep(pause.seconds)
        return True

    def read(self, response: httpx2.Response, kind: type[Answer]) -> Answer:
        """The model that an answer holds."""
        try:
            # A newer hub may tell more than this client knows.
            return kind.model_validate_json(response.content, extra="ignore")
        except ValidationError as error:
            raise not_a_hub(self.url) from error

    def _once(self, call: Call) -> httpx2.Response:
        content: bytes | str | None = call.content
        headers = dict(call.headers)
        if call.body is not None:
            content = call.body.model_dump_json(exclude_unset=True)
            headers["Content-Type"] = "application/json"
        return self.http.request(
            call.method,
            f"{self.url}/v1{call.path}",
            params={name: value for name, value in call.parameters.items() if value},
            content=content,
            headers=headers,
            timeout=httpx2.Timeout(call.seconds, connect=CONNECT_SECONDS),
        )

    def _checked(self, response: httpx2.Response, accepts: frozenset[int]) -> httpx2.Response:
        if response.is_success or response.status_code in accepts:
            return response
        raise _problem(response)

    def _pause(self, seconds: float) -> None:
        # A thousand jobs that lost the same hub shall not come back in the same moment.
        self._sleep(seconds * random.uniform(0.75, 1.25))  # noqa: S311 - no secret


def _had_no_effect(call: Call, error: Exception) -> bool:
    """Whether a request that got no answer can be sent again."""
    if isinstance(error, (httpx2.ConnectError, httpx2.ConnectTimeout)):
        return True
    # Whoever waited a minute for an answer is not made to wait for two more.
    is_slow = isinstance(error, httpx2.TimeoutException)
    is_nonsense = isinstance(error, (httpx2.InvalidURL, httpx2.UnsupportedProtocol))
    return call.is_repeatable and not is_slow and not is_nonsense


def _may_try_again(call: Call, response: httpx2.Response) -> bool:
    is_busy = call.is_repeatable and response.status_code in _BUSY
    return is_busy or response.status_code == _TOO_MANY


def _asked_wait(response: httpx2.Response) -> float:
    """Seconds of `Retry-After`; 0 when it says nothing that is a number."""
    text = response.headers.get("retry-after", "")
    return float(text) if text.isdecimal() else 0.0


def _problem(response: httpx2.Response) -> HubError:
    if response.is_redirect:
        return led_away(response.status_code, response.headers.get("location", ""))
    try:
        problem = ErrorResponse.model_validate_json(response.content, extra="ignore").error
    except ValidationError:
        return strange_refusal(response.status_code, _asked_wait(response))
    return refusal(response.status_code, problem, _asked_wait(response))


def _is_loopback(url: str) -> bool:
    try:
        return urlsplit(url).hostname in LOOPBACK
    except ValueError:  # no URL at all; the first request says so
        return False
