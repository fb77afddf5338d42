"""The load itself, a process of its own: `python -m bench.load_test.generator PLAN SAMPLES`.

Locust starts people and a job, which go on until the time is over; each has a random generator of its own, so
that the same seed has everyone choose the same. Importing Locust changes Python's sockets: only this process
does so.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from collections import defaultdict
from pathlib import Path

import gevent
from geventhttpclient import HTTPClient
from locust import User, task
from locust.env import Environment

from bench.load_test.addresses import loopback_address
from bench.load_test.browsing import Browser
from bench.load_test.figures import FIRST_PAGE
from bench.load_test.plan import PEOPLE, Outcome, Plan, Sample, Told
from bench.load_test.sessions import FIRST_HOST, Shared, copy_session
from bench.visits import draw_visit, rank_of

_SPAWNED_A_SECOND = 10.0
_MOST_EXTRA_SECONDS = 60
"""How long a load goes on at most because nobody has seen a page yet, as on a machine that is very busy."""
_NOTICE_SECONDS = 2.0
"""How long after a job attaches a session the first person opens it."""


class Load:
    """What all users of one load share."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.host, self.port = loopback_address(plan.url)
        self.began = time.monotonic()
        self.samples: list[Sample] = []
        self.is_over = False
        self._numbers: defaultdict[str, int] = defaultdict(int)

    def rng(self, kind: str) -> random.Random:
        """The random numbers of the next user of a kind."""
        self._numbers[kind] += 1
        return random.Random(f"{self.plan.seed}-{kind}-{self._numbers[kind]}")

    def browser(self) -> Browser:
        """A new browser."""
        return Browser(self.host, self.port, self.began, self.note)

    def note(self, sample: Sample) -> None:
        """Notes a request, unless it was cut off by the end of the load."""
        if not self.is_over:
            self.samples.append(sample)


class Visitor:
    """Somebody who opens links and looks around."""

    def __init__(self, load: Load, rng: random.Random) -> None:
        self._load, self._rng = load, rng
        self._browser = load.browser()

    def visit(self) -> None:
        """Opens a link chosen by Zipf's law, looks at some of it, and pauses."""
        links = self._load.plan.links
        link = links[rank_of(self._rng.random(), len(links))]
        if self._rng.random() < PEOPLE.new_people:
            self._browser.forget()
        self.look_at(link)

    def look_at(self, link: Shared) -> None:
        """Opens a link and looks around; each part after a pause."""
        browser, visit = self._browser, draw_visit(self._rng, PEOPLE)
        browser.open_link(link.path, link.session)
        self._pause()
        if visit.has_trace:
            browser.open_trace(link.path, link.session, FIRST_HOST)
            self._pause()
            for window in visit.zooms:
                browser.zoom(link.path, link.session, FIRST_HOST, window)
                self._pause()
        if visit.tool is not None:
            browser.open_tool(link.path, link.session, visit.tool)
            self._pause()

    def close(self) -> None:
        """Closes the browser."""
        self._browser.close()

    def _pause(self) -> None:
        gevent.sleep(self._load.plan.pause * (0.5 + self._rng.random()))


class Job:
    """A training job that leaves sessions, attaches them, and shares them with somebody who looks at once."""

    def __init__(self, load: Load, rng: random.Random) -> None:
        self._load, self._rng = load, rng
        self._reader = Visitor(load, rng)
        self._client = HTTPClient(load.host, load.port, network_timeout=60.0)
        self._count = 0

    def attach(self) -> None:
        """Leaves a session, attaches it, makes a link; a moment later somebody opens it."""
        plan = self._load.plan
        self._count += 1
        name = f"new-{os.getpid()}-{self._count:04}"
        folder = Path(plan.job_folder) / name
        copy_session(Path(self._rng.choice(plan.templates)), folder)
        sessions = f"/v1/machineLearningRuns/{plan.job_run}/profilerSessions"
        body = {"storageFolderUri": str(folder)}
        if self._post("attach", f"{sessions}?profilerSessionId={name}", body) is None:
            return
        made = self._post("share", f"{sessions}/{name}/shareLinks", {})
        if made is not None:
            uri = str(made["uri"])
            gevent.sleep(_NOTICE_SECONDS)
            self._reader.look_at(Shared(uri[uri.index("/s/") :], name, 0))
        gevent.sleep(plan.job_seconds)

    def _post(self, kind: str, path: str, body: dict[str, str]) -> dict[str, object] | None:
        begin = time.monotonic()
        headers = {"Content-Type": "application/json"}
        try:
            response = self._client.post(path, json.dumps(body).encode(), headers)
            first = time.monotonic() - begin
            text = bytes(response.read())
            is_ok, note = response.status_code == 200, f"{response.status_code} {text[:300]!r}"
        except Exception as problem:  # noqa: BLE001 - whatever it was, the job sees it
            first, text, is_ok, note = time.monotonic() - begin, b"", False, repr(problem)
        whole, outcome = time.monotonic() - begin, Outcome.OK if is_ok else Outcome.FAILED
        began = begin - self._load.began
        self._load.note(
            Sample(kind, began, first, whole, len(text), outcome, "" if is_ok else note)
        )
        found: dict[str, object] | None = json.loads(text) if is_ok else None
        return found


def users_of(load: Load) -> list[type[User]]:
    """Locust's classes of users, bound to one load."""

    class Person(User):
        weight = load.plan.people

        def on_start(self) -> None:
            self._visitor = Visitor(load, load.rng("person"))

        def on_stop(self) -> None:
            self._visitor.close()

        @task
        def visit(self) -> None:
            self._visitor.visit()

    class Trainer(User):
        fixed_count = 1

        def on_start(self) -> None:
            self._job = Job(load, load.rng("job"))

        @task
        def attach(self) -> None:
            self._job.attach()

    return [Person, Trainer] if load.plan.job_seconds else [Person]


def play(load: Load) -> None:
    """Has everyone go on until the time is over and somebody has seen a page."""
    environment = Environment(user_classes=users_of(load))
    runner = environment.create_local_runner()
    everyone = load.plan.people + bool(load.plan.job_seconds)
    runner.start(everyone, spawn_rate=_SPAWNED_A_SECOND)
    gevent.sleep(load.plan.seconds)
    for _ in range(_MOST_EXTRA_SECONDS):
        if any(sample.kind == FIRST_PAGE for sample in load.samples):
            break
        gevent.sleep(1)
    load.is_over = True
    runner.quit()


def play_crowd(load: Load) -> None:
    """Has everyone open the first link, once, within some seconds; waits until all have it."""
    rng, link = load.rng("crowd"), load.plan.links[0]

    def come(delay: float) -> None:
        gevent.sleep(delay)
        browser = load.browser()
        browser.open_link(link.path, link.session)
        browser.close()

    within = load.plan.crowd_seconds
    people = [gevent.spawn(come, rng.random() * within) for _ in range(load.plan.people)]
    gevent.joinall(people, timeout=load.plan.seconds, raise_error=True)


def main() -> None:
    """Reads the plan, plays it, writes what came of it."""
    load = Load(Plan.read(Path(sys.argv[1])))
    before = time.process_time()
    if load.plan.crowd_seconds:
        play_crowd(load)
    else:
        play(load)
    Told(time.process_time() - before, load.samples).write(Path(sys.argv[2]))


if __name__ == "__main__":
    main()
