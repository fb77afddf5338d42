"""`xprof-hub doctor --link`: opens a link as a reader's browser does, and says where the time goes.

Works from anywhere, with nothing but the link; tells no token. What a step took on the server stands in
`Server-Timing`, and `X-Request-Id` is what its log lines are found by.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx2
import typer
from pydantic import ValidationError

from auth.tokens import redact
from server.commands.tables import say
from server.commands.terminal import print_line
from server.http.preferences import RESPOND_ASYNC
from server.schemas import ErrorResponse
from server.schemas.progress import AnswerProgress
from server.settings import LOOPBACK
from server.ui.words import size

_FIRST_TOOL = "overview_page"
_POLL_SECONDS = 0.25
_LONGEST_SECONDS = 900.0
_ACCEPTED = httpx2.codes.ACCEPTED


@dataclass(frozen=True)
class Step:
    """A part of opening a link.

    Attributes:
        name: what was done.
        seconds: how long it took.
        remark: what came of it.
        is_good: whether the next one makes sense.
    """

    name: str
    seconds: float
    remark: str = ""
    is_good: bool = True


class LinkVisit:
    """One visit of a link; not to be used twice.

    Args:
        link: its address.
        http: sends requests, keeps cookies and follows redirects.
    """

    def __init__(self, link: str, http: httpx2.Client) -> None:
        self._link = link
        self._http = http
        self._connecting: dict[str, float] = {}

    def steps(self) -> Iterator[Step]:
        """Takes one step after the other, up to the first that fails."""
        lookup = self._look_up()
        yield lookup
        if not lookup.is_good:
            return
        page, step = self._get("page", self._link, {"Accept": "text/html,*/*"})
        for name in ("connect_tcp", "start_tls"):
            if name in self._connecting:
                words = "connection" if name == "connect_tcp" else "TLS"
                yield Step(words, self._connecting[name])
        if page is None or not step.is_good:
            yield step
            return
        asks = _asks_for(page)
        if asks:
            yield Step(
                "page", step.seconds, f"the link asks for {asks}: nothing more to see", False
            )
            return
        yield step
        yield from self._data(str(page.url).partition("?")[0].rstrip("/"))

    def _data(self, base: str) -> Iterator[Step]:
        """What the page asks for then: the tools, and the answer of the first one, twice."""
        answer, step = self._get("list of tools", f"{base}/run_tools")
        yield step
        tools = answer.json() if answer is not None and step.is_good else []
        if not tools:
            return
        tool = _FIRST_TOOL if _FIRST_TOOL in tools else str(tools[0])
        answer, step = self._get(f"hosts of {tool}", f"{base}/hosts?tag={tool}")
        yield step
        hosts = answer.json() if answer is not None and step.is_good else []
        if not hosts:
            return
        query = {"tag": tool, "host": str(hosts[0]["hostname"])}
        step = self._wait_for(base, query)
        yield step
        if step.is_good:
            again = self._get("the same again", f"{base}/data", parameters=query)[1]
            yield again

    def _look_up(self) -> Step:
        parts, start = urlsplit(self._link), time.monotonic()
        try:
            found = socket.getaddrinfo(parts.hostname, parts.port or 443, type=socket.SOCK_STREAM)
        except OSError:
            return Step("name", time.monotonic() - start, "the host name has no address", False)
        addresses = len({str(address[4][0]) for address in found})
        return Step("name", time.monotonic() - start, f"{addresses} addresses")

    def _get(
        self,
        name: str,
        url: str,
        headers: Mapping[str, str] | None = None,
        parameters: Mapping[str, str] | None = None,
    ) -> tuple[httpx2.Response | None, Step]:
        """An answer, with the step that it was."""
        started: dict[str, float] = {}

        def trace(event: str, _info: object) -> None:
            part, _, what = event.removeprefix("connection.").partition(".")
            if what == "started":
                started[part] = time.monotonic()
            elif what == "complete" and part in started:
                self._connecting.setdefault(part, time.monotonic() - started[part])

        start = time.monotonic()
        try:
            answer = self._http.get(
                url, headers=headers, params=parameters, extensions={"trace": trace}
            )
        except httpx2.HTTPError as problem:
            # Its own sentence may hold the address, and with it the token.
            remark = f"no answer ({type(problem).__name__})"
            return None, Step(name, time.monotonic() - start, remark, False)
        remark, is_good = _remark(answer), answer.is_success
        return answer, Step(name, time.monotonic() - start, remark, is_good)

    def _wait_for(self, base: str, query: Mapping[str, str]) -> Step:
        """The answer of a tool, with how long each part of the work on it took."""
        name, start = str(query["tag"]), time.monotonic()
        headers = {"Prefer": RESPOND_ASYNC}
        answer, step = self._get(name, f"{base}/data", headers, query)
        if answer is None or answer.status_code != _ACCEPTED:
            return step
        told = self._follow(f"{base}/progress", query, start + _LONGEST_SECONDS)
        answer, step = self._get(name, f"{base}/data", parameters=query)
        work = ", ".join(f"{phase} {seconds:.1f} s" for phase, seconds in told.items())
        remark = f"{work or 'made at once'}; {step.remark}"
        return Step(name, time.monotonic() - start, remark, step.is_good)

    def _follow(self, url: str, query: Mapping[str, str], end: float) -> dict[str, float]:
        """Seconds of each phase, as far as asking now and then shows; with who goes first while waiting."""
        told: dict[str, float] = {}
        before = time.monotonic()
        while time.monotonic() < end:
            answer, step = self._get("progress", url, parameters=query)
            if answer is None or not step.is_good:
                break
            progress = AnswerProgress.model_validate_json(answer.content)
            if progress.state != "running":
                break
            phase = progress.phase.value if progress.phase else "begin"
            if progress.ahead:
                say(f"      {progress.ahead} conversions go first")
            time.sleep(_POLL_SECONDS)
            told[phase] = told.get(phase, 0.0) + time.monotonic() - before
            before = time.monotonic()
        return told


def print_visit(link: str) -> bool:
    """Prints each step as it is done; whether all went well."""
    host = urlsplit(link).hostname or ""
    with httpx2.Client(
        follow_redirects=True, timeout=_LONGEST_SECONDS, trust_env=host not in LOOPBACK
    ) as http:
        all_good = True
        for step in LinkVisit(link, http).steps():
            all_good &= step.is_good
            mark = "ok  " if step.is_good else "FAIL"
            line = f"{mark}  {step.seconds:7.3f} s  {step.name}: {step.remark}"
            print_line(redact(line.rstrip(": ")))
    if not all_good:
        typer.echo("See 'A slow link' in docs/operations.md for what to look at next.", err=True)
    return all_good


def _asks_for(page: httpx2.Response) -> str:
    """What a link wants of a reader before it shows anything; empty when nothing."""
    path = page.url.path
    if path.endswith("/unlock"):
        return "a password"
    return "people to sign in" if path.endswith("/signin") else ""


def _remark(answer: httpx2.Response) -> str:
    parts = [size(len(answer.content))] if answer.is_success else [_refusal(answer)]
    if answer.history:
        parts.append(f"{len(answer.history)} redirects")
    wait = answer.headers.get("Retry-After")
    if wait:
        parts.append(f"come back in {wait} s")
    timing = answer.headers.get("Server-Timing")
    if timing:
        parts.append(f"server: {timing}")
    request = answer.headers.get("X-Request-Id")
    if request:
        parts.append(f"request id {request}")
    return "; ".join(parts)


def _refusal(answer: httpx2.Response) -> str:
    try:
        message = ErrorResponse.model_validate_json(answer.content).error.message
    except ValidationError:
        return f"status {answer.status_code}"
    return f"status {answer.status_code}: {message}"
