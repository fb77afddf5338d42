"""What a browser asks for when somebody opens a link, as XProf's page and ours were seen to ask.

Only the load's process imports this: it needs gevent. Files at addresses with a hash are kept for good, what
has an `ETag` is asked for again with it, up to six requests run at once, and whoever is told to come later
does so by himself, as the page does.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from html import unescape
from urllib.parse import quote, urlencode

import gevent
from geventhttpclient import HTTPClient
from geventhttpclient.response import HTTPResponse

from bench.load_test.plan import ALL_HOSTS, PROFILE_PATH, TOOLS, Outcome, Sample, hosts_of
from bench.users import Answer

TRACE_MS, WINDOW_MS = (5.1, 7.9), 0.4
"""The time in which a made session has events in its trace, and how much of it a zoom shows."""
WINDOWS = 50
_CONNECTIONS = 6
_TIMEOUT_SECONDS = 120.0
_LATER = frozenset({429, 503})
NOT_MODIFIED = 304
_MOST_RETRIES = 10
_PATIENCE_SECONDS, _PAUSE_SECONDS = 0.5, 1.0
_PAGE_FILE = re.compile(r'(?:src|href)="(/_assets/[^"]+)"')
_TRACE_PAGE = "trace_viewer_index.html"
Tell = Callable[[Sample], None]


@dataclass
class Browser:
    """A person's browser: connections, and what it has kept.

    Attributes:
        host: of the hub.
        port: of the hub.
        began: when the load began, `time.monotonic`.
        tell: is told of each request.
    """

    host: str
    port: int
    began: float
    tell: Tell
    _kept: dict[str, str] = field(default_factory=dict)
    _files: set[str] = field(default_factory=set)
    _pages: dict[str, Answer] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._client = HTTPClient(
            self.host,
            self.port,
            concurrency=_CONNECTIONS,
            connection_timeout=_TIMEOUT_SECONDS,
            network_timeout=_TIMEOUT_SECONDS,
        )

    def close(self) -> None:
        """Closes all connections."""
        self._client.close()

    def forget(self) -> None:
        """From now on this is somebody else's browser, which has nothing of the hub yet."""
        self._kept.clear()
        self._files.clear()
        self._pages.clear()

    def open_link(self, link: str, session: str) -> None:
        """The first page, up to its figures."""
        begin = time.monotonic()
        base = link + PROFILE_PATH
        shown = self.ask("page", base)
        run = {"run": session}
        overview = {**run, "tag": "overview_page", "host": ALL_HOSTS}
        jobs = [gevent.spawn(self.ask, "overview", _address(base, "data", overview))]
        jobs += [
            gevent.spawn(self.ask, "tools", _address(base, "run_tools", run)),
            gevent.spawn(self.ask, "small", base + "runs"),
            gevent.spawn(
                self.ask, "small", _address(base, "hosts", {**run, "tag": "overview_page"})
            ),
        ]
        jobs += [gevent.spawn(self._load_file, path) for path in _files_of(shown)]
        gevent.joinall(jobs, raise_error=True)
        outcome = Outcome.OK if jobs[0].value else Outcome.FAILED
        whole = time.monotonic() - begin
        self.tell(Sample("first page", begin - self.began, whole, whole, 0, outcome))
        for name in ("config", "version", "status"):
            self.ask("small", base + name)

    def open_trace(self, link: str, session: str, host: str) -> None:
        """The trace viewer and its first window."""
        base = link + PROFILE_PATH
        self.ask("small", _address(base, "hosts", {"run": session, "tag": "trace_viewer@"}))
        page = self.ask("file", base + _TRACE_PAGE)
        for path in _files_of(page):
            self._load_file(path)
        self.ask("trace", self._trace_address(base, session, host, {}))

    def zoom(self, link: str, session: str, host: str, window: int) -> None:
        """Another window of the trace.

        Args:
            link: of the session.
            session: its id.
            host: whose trace it is.
            window: 0 to `WINDOWS` - 1.
        """
        begin = TRACE_MS[0] + (TRACE_MS[1] - TRACE_MS[0] - WINDOW_MS) * window / WINDOWS
        times = {"start_time_ms": f"{begin:.3f}", "end_time_ms": f"{begin + WINDOW_MS:.3f}"}
        self.ask("zoom", self._trace_address(link + PROFILE_PATH, session, host, times))

    def open_tool(self, link: str, session: str, tool: int) -> None:
        """Another tool, by its number in `TOOLS`."""
        name = TOOLS[tool]
        query = {"run": session, "tag": name, "host": hosts_of(name)}
        self.ask("tool", _address(link + PROFILE_PATH, "data", query))

    def ask(self, kind: str, path: str) -> Answer | None:
        """Asks until there is an answer, or an error that a person sees (None)."""
        waiting = gevent.spawn(self._follow, path) if "/data?" in path else None
        try:
            for _ in range(_MOST_RETRIES):
                answer, pause = self._ask_once(kind, path)
                if answer or pause is None:
                    return answer
                gevent.sleep(pause)
        finally:
            if waiting is not None:
                waiting.kill()
        self.tell(
            Sample(kind, self._now(), 0, 0, 0, Outcome.FAILED, "told to come later too often")
        )
        return None

    def _ask_once(self, kind: str, path: str) -> tuple[Answer | None, float | None]:
        """The answer, or else the seconds to wait before another try; both None: it failed."""
        headers = {"Accept": "*/*", "Accept-Encoding": "gzip, deflate, br, zstd"}
        if path in self._kept:
            headers["If-None-Match"] = self._kept[path]
        begin = time.monotonic()
        try:
            response = self._client.get(path, headers)
            first = time.monotonic() - begin
            body = bytes(response.read())
        except Exception as problem:  # noqa: BLE001 - whatever it was, the person sees it
            whole = time.monotonic() - begin
            note = f"{type(problem).__name__}: {problem}"
            self.tell(Sample(kind, begin - self.began, whole, whole, 0, Outcome.FAILED, note))
            return None, None
        whole, status = time.monotonic() - begin, response.status_code
        outcome, pause = _judge(status, _header(response, "Retry-After"))
        note = "" if outcome is Outcome.OK else f"{status} {body[:300].decode(errors='replace')}"
        self.tell(Sample(kind, begin - self.began, first, whole, len(body), outcome, note))
        if outcome is not Outcome.OK:
            return None, pause
        return self._keep(path, response, body), None

    def _keep(self, path: str, response: HTTPResponse, body: bytes) -> Answer:
        if response.status_code == NOT_MODIFIED:
            return self._pages.get(path, Answer(NOT_MODIFIED, "", b""))
        answer = Answer(response.status_code, _header(response, "Content-Encoding") or "", body)
        if etag := _header(response, "ETag"):
            self._kept[path] = etag
        if path.endswith((PROFILE_PATH, _TRACE_PAGE)):
            self._pages[path] = answer
        return answer

    def _load_file(self, path: str) -> None:
        if path not in self._files and self.ask("file", path) is not None:
            self._files.add(path)

    def _follow(self, path: str) -> None:
        """Asks how far an answer is while it takes a while."""
        gevent.sleep(_PATIENCE_SECONDS)
        while True:
            self._ask_once("progress", path.replace(PROFILE_PATH, f"{PROFILE_PATH}progress/", 1))
            gevent.sleep(_PAUSE_SECONDS)

    def _now(self) -> float:
        return time.monotonic() - self.began

    def _trace_address(self, base: str, session: str, host: str, times: Mapping[str, str]) -> str:
        query = {"run": session, "tag": "trace_viewer@", "hosts": host, "host": host}
        return _address(base, "data", {**query, "resolution": "8000", **times})


def _files_of(page: Answer | None) -> list[str]:
    """The static files that a page names; none of a page that did not come."""
    text = page.data.decode(errors="replace") if page else ""
    return [unescape(path) for path in _PAGE_FILE.findall(text)]


def _address(base: str, name: str, query: Mapping[str, str]) -> str:
    return f"{base}{name}?{urlencode(query, quote_via=quote)}"


def _header(response: HTTPResponse, name: str) -> str | None:
    value = response.get(name)
    return value if isinstance(value, str) else None


def _judge(status: int, retry_after: str | None) -> tuple[Outcome, float | None]:
    """What a person sees of a status, and after how many seconds the page asks again."""
    if status < 400:
        return Outcome.OK, None
    if status in _LATER and retry_after is not None:
        return Outcome.LATER, float(retry_after)
    return Outcome.FAILED, None
