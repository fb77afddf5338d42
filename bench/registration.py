"""How long jobs wait that all start at the same moment, as Google's SDK makes them wait.

    python bench/registration.py [--jobs 100] [--rounds 5] [--database URL] [--markdown]

A front end of its own takes registrations and ends from as many connections at once as there are jobs, each
with a token in its path: of new runs, of the same runs again, of one run only, and the ends of the jobs. The
SDK's limit is 5 s, after which a job goes on without being registered.
"""

from __future__ import annotations

import argparse
import http.client
import json
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from bench.accounting import machine
from bench.contenders import free_port, program, start_process, stop_process, wait_for
from server.serve import stop_on_terminate

MASK = (
    "display_name,creator,cluster_id,workload.workload_id,workload.display_name,logical_id,"
    "base_blob_path"
)
TARGET_SECONDS = 1.0


@dataclass(frozen=True)
class Step:
    """Seconds that the requests of one step took, over all rounds."""

    what: str
    seconds: Sequence[float]

    def share(self, percent: int) -> float:
        """The seconds within which so many percent were answered."""
        return statistics.quantiles(self.seconds, n=100, method="inclusive")[percent - 1]


class Jobs:
    """A crowd of jobs, each with a connection of its own."""

    def __init__(self, port: int, token: str, count: int) -> None:
        self._port = port
        self._path = f"/ingest/{token}/v1/machineLearningRuns"
        self._count = count

    def register(self, name: Callable[[int], str]) -> list[float]:
        """All begin."""

        def request(number: int) -> tuple[str, dict[str, object]]:
            run = name(number)
            workload = {"workloadId": run, "displayName": run}
            root = "gs://bench-profiles/team"
            body: dict[str, object] = {"logicalId": run, "displayName": run, "workload": workload}
            body |= {"creator": "CREATOR_MANUAL", "clusterId": "", "baseBlobPath": root}
            return f"?update_mask={MASK}&allow_missing=true", body

        return self._at_once(request)

    def end(self, name: Callable[[int], str]) -> list[float]:
        """All succeed."""

        def request(number: int) -> tuple[str, dict[str, object]]:
            query = "?update_mask=workload.state&allow_missing=false"
            return f"/{name(number)}{query}", {"workload": {"state": "STATE_SUCCEEDED"}}

        return self._at_once(request)

    def _at_once(self, request: Callable[[int], tuple[str, dict[str, object]]]) -> list[float]:
        barrier = threading.Barrier(self._count)

        def one(number: int) -> float:
            address, body = request(number)
            content = json.dumps(body)
            connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
            barrier.wait()
            begin = time.monotonic()
            connection.request("PATCH", f"{self._path}{address}", content)
            answer = connection.getresponse()
            answer.read()
            seconds = time.monotonic() - begin
            connection.close()
            if answer.status != 200:
                raise SystemExit(f"{address} was answered with {answer.status}.")
            return seconds

        with ThreadPoolExecutor(self._count) as pool:
            return list(pool.map(one, range(self._count)))


def measure(jobs: Jobs, rounds: int) -> list[Step]:
    """All steps, round by round."""
    steps: dict[str, list[float]] = {}
    for current in range(rounds):

        def own(number: int, current: int = current) -> str:
            return f"job-{current}-{number}"

        def shared(_number: int, current: int = current) -> str:
            return f"shared-{current}"

        for what, work, name in (
            ("new runs", jobs.register, own),
            ("the same runs again", jobs.register, own),
            ("ends", jobs.end, own),
            ("one run", jobs.register, shared),
        ):
            steps.setdefault(what, []).extend(work(name))
    return [Step(what, seconds) for what, seconds in steps.items()]


def show(steps: Sequence[Step], *, is_markdown: bool) -> None:
    """The table, and whether the target is met."""
    edge = "| " if is_markdown else ""
    print(f"{edge}{'jobs that tell':20} | p50 s  | p99 s  | most s{' |' if is_markdown else ''}")
    if is_markdown:
        print("| --- | --- | --- | --- |")
    for step in steps:
        figures = " | ".join(f"{step.share(share):6.3f}" for share in (50, 99))
        most = f"{max(step.seconds):6.3f}{' |' if is_markdown else ''}"
        print(f"{edge}{step.what:20} | {figures} | {most}")
    worst = max(step.share(99) for step in steps)
    verdict = "met" if worst < TARGET_SECONDS else "MISSED"
    print(f"\np99 at most {worst:.3f} s, target under {TARGET_SECONDS:.0f} s: {verdict}")


def main() -> None:
    """Starts a front end, measures, and ends it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--database", default="", help="SQLite in a folder of its own unless set")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    stop_on_terminate()
    with tempfile.TemporaryDirectory(prefix="xprof-hub-bench-") as name:
        folder, port = Path(name), free_port()
        settings = {
            "XPROF_HUB_AUTH": "token",
            "XPROF_HUB_DATA_DIR": str(folder / "data"),
            "XPROF_HUB_DATABASE_URL": options.database,
            "XPROF_HUB_PORT": str(port),
            "XPROF_HUB_SECRET_KEY": "of the bench",
            "XPROF_HUB_STORAGE_ROOTS": "gs://bench-profiles",
            "XPROF_HUB_SCAN_SECONDS": "0",
            "XPROF_HUB_WORKERS": "http://127.0.0.1:9",
        }
        hub = str(program("xprof-hub"))
        log = folder / "log"
        process = start_process([hub, "serve", "--only", "front"], log, settings)
        try:
            wait_for(f"http://127.0.0.1:{port}/readyz", process, log)
            command = [hub, "tokens", "create", "--local", "--role", "ingest", "bench"]
            made = subprocess.run(command, env=settings, check=True, capture_output=True, text=True)
            jobs = Jobs(port, made.stdout.strip(), options.jobs)
            jobs.register(lambda number: f"warm-{number}")
            print(machine())
            print(f"{options.jobs} jobs at once, {options.rounds} rounds\n")
            show(measure(jobs, options.rounds), is_markdown=options.markdown)
        finally:
            stop_process(process)


if __name__ == "__main__":
    main()
