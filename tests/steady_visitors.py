"""People and jobs who use several front ends at once, as through a load balancer, and note what fails."""

from __future__ import annotations

import itertools
import json
import random
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from urllib.parse import urlsplit

_PAUSE_SECONDS = 0.05
_READERS = 2
_LEADS_ON = (301, 302, 303, 307, 308)


class _StayHere(urllib.request.HTTPRedirectHandler):
    """Gives redirects back: the next request may go to another front end."""

    def redirect_request(self, *_what: object, **_more: object) -> None:
        return None


class Balancer:
    """Sends each request to the next of the front ends that are in use."""

    def __init__(self) -> None:
        self._urls: list[str] = []
        self._turns = itertools.count()
        self._lock = threading.Lock()
        self._opener = urllib.request.build_opener(_StayHere, urllib.request.ProxyHandler({}))

    def put_in(self, url: str) -> None:
        """From now on this front end gets requests."""
        with self._lock:
            self._urls.append(url)

    def take_out(self, url: str) -> None:
        """It gets no new ones; those that it is answering go on."""
        with self._lock:
            self._urls.remove(url)

    def ask(self, path: str, body: Mapping[str, object] | None = None) -> tuple[str, bytes]:
        """GET, or POST with a body, following redirects; who answered, and what.

        Raises:
            OSError: nobody did, or with an error.
        """
        data = None if body is None else json.dumps(body).encode()
        for _ in range(5):
            with self._lock:
                url = self._urls[next(self._turns) % len(self._urls)]
            request = urllib.request.Request(url + path, data, {"Content-Type": "application/json"})
            try:
                with self._opener.open(request, timeout=30) as answer:
                    return url, answer.read()
            except urllib.error.HTTPError as error:
                if error.code not in _LEADS_ON:
                    raise
                path = urlsplit(error.headers["Location"]).path
        raise OSError(f"{path} leads in circles")


@dataclass(frozen=True)
class Made:
    """One run with a session and a link, and the front end that made the run."""

    run: str
    link: str
    by: str


@dataclass
class Visitors:
    """Makes runs, attaches sessions, makes links, and opens them, as long as the block lasts."""

    balancer: Balancer
    location: Path
    made: list[Made] = field(default_factory=list)
    opened: int = 0
    failures: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._over = threading.Event()
        jobs = [self._make, *[self._look] * _READERS]
        self._threads = [
            threading.Thread(target=self._again, args=(job,), daemon=True) for job in jobs
        ]

    def __enter__(self) -> Visitors:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()

    def wait_for_more(self, by: str, count: int = 4) -> None:
        """Waits until a front end has made some more runs, and links were opened meanwhile."""
        runs, opened, end = self._made_by(by) + count, self.opened + count, time.monotonic() + 60
        while self._made_by(by) < runs or self.opened < opened:
            assert time.monotonic() < end and not self.failures, self.failures
            time.sleep(_PAUSE_SECONDS)

    def _made_by(self, url: str) -> int:
        return sum(made.by == url for made in self.made)

    def _again(self, job: Callable[[], None]) -> None:
        while not self._over.wait(_PAUSE_SECONDS):
            try:
                job()
            except (OSError, ValueError, KeyError) as problem:
                self.failures.append(f"{job.__name__}: {problem!r}")

    def _make(self) -> None:
        run = f"r{len(self.made)}"
        runs = "/v1/machineLearningRuns"
        by, _ = self.balancer.ask(f"{runs}?machineLearningRunId={run}", {"displayName": run})
        session = {"storageFolderUri": str(self.location)}
        self.balancer.ask(f"{runs}/{run}/profilerSessions?profilerSessionId=s", session)
        _, answer = self.balancer.ask(f"{runs}/{run}/profilerSessions/s/shareLinks", {})
        self.made.append(Made(run, urlsplit(json.loads(answer)["uri"]).path, by))

    def _look(self) -> None:
        if not self.made:
            return
        made = random.choice(self.made)
        _, page = self.balancer.ask(made.link)
        _, run = self.balancer.ask(f"/v1/machineLearningRuns/{made.run}")
        if b"<app" not in page or json.loads(run)["displayName"] != made.run:
            raise ValueError(f"{made.run} is something else")
        self.opened += 1
