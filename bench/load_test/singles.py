"""What single requests cost, one at a time: processor seconds of the worker and of the front end.

The capacity model is given these, and nothing of what a load shows.
"""

from __future__ import annotations

import http.client
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit

from bench.load_test.figures import FIRST_PAGE
from bench.load_test.fleet import Fleet
from bench.load_test.plan import ALL_HOSTS, PROFILE_PATH, TOOLS, hosts_of
from bench.load_test.running import play
from bench.load_test.sessions import CLASSES, FIRST_HOST, Shared
from bench.load_test.stage import Stage
from bench.load_test.watching import cpu_seconds

_OF_EACH_SIZE, _REPEATS = 8, 200
_SETTLE_SECONDS = 0.5
_WINDOWS_MS = ((5.2, 5.6), (6.4, 6.8))
_ALONE_SECONDS = 15.0
_DIGITS = 5
"""Of seconds, after the point; processor time is told in hundredths, and divided by tens of requests."""


@dataclass
class _Asker:
    """One connection to a front end, and the processor time of both sides of it."""

    fleet: Fleet

    def __post_init__(self) -> None:
        parts = urlsplit(self.fleet.url)
        self._connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=120)

    def get(self, path: str, encoding: str = "zstd") -> bytes:
        """The body of an answer.

        Raises:
            SystemExit: it is an error.
        """
        self._connection.request("GET", path, headers={"Accept-Encoding": encoding})
        response = self._connection.getresponse()
        body = response.read()
        if response.status != http.client.OK:
            raise SystemExit(f"{path} was answered with {response.status}: {body[:500]!r}")
        return body

    def measure(self, count: int, act: Callable[[], None]) -> tuple[float, float]:
        """Processor seconds of the worker and of the front end for one of `count` requests."""
        time.sleep(_SETTLE_SECONDS)
        before = self._used()
        act()
        time.sleep(_SETTLE_SECONDS)
        worker, front = (after - start for after, start in zip(self._used(), before, strict=True))
        return round(worker / count, _DIGITS), round(front / count, _DIGITS)

    def _used(self) -> tuple[float, float]:
        worker, front = self.fleet.workers[0], self.fleet.front
        assert front is not None, "the fleet runs"
        return cpu_seconds(worker.pid), cpu_seconds(front.pid)


def measure_singles(stage: Stage, seed: int) -> dict[str, object]:
    """All costs, as `bench.capacity_model.measured.SingleCosts` reads them."""
    with stage.fleet("singles", 1) as fleet:
        asker = _Asker(fleet)
        opened = [link for size in range(len(CLASSES)) for link in _some(stage.links, size)]
        asker.get(
            _data_path(opened[-1], "overview_page", ALL_HOSTS)
        )  # XProf's library is loaded once
        sizes, relayed = [], []
        for size, each in enumerate(CLASSES):
            costs, front = _size_costs(asker, _some(stage.links, size)[:-1])
            sizes.append({"name": each.name, "share": each.share, **costs})
            relayed.append(front)
        page = asker.get(opened[0].path + PROFILE_PATH, encoding="identity")
        fronts = _front_costs(asker, opened[: _OF_EACH_SIZE - 1])
        plan = stage.plan(_ALONE_SECONDS, 1, seed, 0.02, 0)
        alone = play(fleet, plan)
    requests = sum(sample.kind != FIRST_PAGE for sample in alone.samples)
    mean = sum(relayed) / len(relayed)
    return {
        "sizes": sizes,
        **fronts,
        "relayed": round(max(0.0, mean - fronts["data"]), _DIGITS),
        "load": round(alone.cpu["load"] / requests, _DIGITS),
        "first_files": page.count(b'"/_assets/'),
    }


def _some(links: Sequence[Shared], size: int) -> list[Shared]:
    """Seldom opened sessions of one size."""
    return [link for link in reversed(links) if link.size == size][:_OF_EACH_SIZE]


def _size_costs(asker: _Asker, links: Sequence[Shared]) -> tuple[dict[str, float], float]:
    """Seconds of the worker for each kind of answer, and of the front end for any but the first."""
    found: dict[str, tuple[float, float]] = {}
    for kind in ("overview", "trace", "zoom", "tool"):
        paths = [path for link in links for path in _paths(kind, link)]
        # The list of tools and the overview count as one.
        count = len(links) if kind == "overview" else len(paths)

        def ask_all(paths: list[str] = paths) -> None:
            for path in paths:
                asker.get(path)

        found[kind] = asker.measure(count, ask_all)
    answers = [front for kind, (_, front) in found.items() if kind != "overview"]
    return {kind: worker for kind, (worker, _) in found.items()}, sum(answers) / len(answers)


def _paths(kind: str, link: Shared) -> list[str]:
    """What is asked for one kind of answer."""
    if kind == "overview":
        tools = f"{link.path}{PROFILE_PATH}run_tools?{urlencode({'run': link.session})}"
        return [tools, _data_path(link, "overview_page", ALL_HOSTS)]
    if kind == "tool":
        return [_data_path(link, tool, hosts_of(tool)) for tool in TOOLS]
    first = {"hosts": FIRST_HOST, "resolution": "8000"}
    windows = [{"start_time_ms": f"{begin}", "end_time_ms": f"{end}"} for begin, end in _WINDOWS_MS]
    times: list[dict[str, str]] = [{}] if kind == "trace" else windows
    return [_data_path(link, "trace_viewer@", FIRST_HOST, **first, **each) for each in times]


def _data_path(link: Shared, tool: str, host: str, **more: str) -> str:
    query = {"run": link.session, "tag": tool, "host": host, **more}
    return f"{link.path}{PROFILE_PATH}data?{urlencode(query)}"


def _front_costs(asker: _Asker, links: Sequence[Shared]) -> dict[str, float]:
    """Seconds of the front end for what needs no worker."""
    rounds = _REPEATS // len(links)

    def each(act: Callable[[Shared], object]) -> float:
        def all_of_them() -> None:
            for _ in range(rounds):
                for link in links:
                    act(link)

        return asker.measure(rounds * len(links), all_of_them)[1]

    return {
        "page": each(lambda link: asker.get(link.path + PROFILE_PATH)),
        "file": each(lambda link: asker.get(f"{link.path}{PROFILE_PATH}styles.css")),
        "small": each(lambda link: asker.get(f"{link.path}{PROFILE_PATH}config")),
        "data": each(lambda link: asker.get(_data_path(link, "overview_page", ALL_HOSTS))),
    }
