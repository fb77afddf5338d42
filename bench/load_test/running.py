"""Plays one load against one fleet and brings together what came of it."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from bench.contenders import start_process, stop_process
from bench.load_test import metrics
from bench.load_test.figures import seen_errors
from bench.load_test.fleet import Fleet
from bench.load_test.metrics import HitRate, Reading
from bench.load_test.plan import Plan, Sample, Told
from bench.load_test.watching import cpu_seconds, machine_cpu_seconds

_GRACE_SECONDS = 180.0
_LOOK_SECONDS = 0.5
Act = Callable[[float], None]


@dataclass(frozen=True)
class Outcome:
    """What came of one load.

    Attributes:
        workers: at its begin.
        plan: that was played.
        seconds: that it took.
        samples: every request.
        cpu: seconds of processor time by process; `load` is the load's own.
        hit_rates: of the caches.
        conversions: engine runs that ended well, by tool.
        counters: other counters of the hub that say something.
        others: cores that anything else on this machine used meanwhile.
    """

    workers: int
    plan: Plan
    seconds: float
    samples: Sequence[Sample]
    cpu: Mapping[str, float]
    hit_rates: Sequence[HitRate]
    conversions: Mapping[str, float]
    counters: Mapping[str, float] = field(default_factory=dict)
    others: float = 0.0

    @property
    def errors(self) -> list[Sample]:
        """What a person saw as an error."""
        return seen_errors(self.samples)

    def cpu_of(self, part: str) -> float:
        """Processor time of all processes of one part (`front`, `worker`, `redis`, `load`)."""
        return sum(value for name, value in self.cpu.items() if name.partition("-")[0] == part)


class Accounts:
    """Processor time of processes that come and go."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        self._begun: dict[int, float] = {}
        self._names: dict[int, str] = {}
        self._last: dict[int, float] = {}
        self.look()
        self._begun = dict(self._last)

    def look(self) -> None:
        """Notes what each process has used so far."""
        for name, process in self._fleet.processes().items():
            self._names[process.pid] = name
            used = cpu_seconds(process.pid)
            self._last[process.pid] = max(used, self._last.get(process.pid, 0.0))

    def used(self) -> dict[str, float]:
        """Seconds by name since the begin."""
        found: dict[str, float] = {}
        for pid, seconds in self._last.items():
            name = self._names[pid]
            found[name] = found.get(name, 0.0) + seconds - self._begun.get(pid, 0.0)
        return found


def play(fleet: Fleet, plan: Plan, act: Act = lambda _seconds: None) -> Outcome:
    """Plays a plan.

    Args:
        fleet: runs already.
        plan: what shall be asked; its address becomes that of the fleet's front end.
        act: called twice a second with the seconds since the begin; it may end and start workers.
    """
    plan = replace(plan, url=fleet.url)
    plan_file, samples_file = fleet.folder / "plan.json", fleet.folder / "samples.json"
    plan.write(plan_file)
    workers, accounts = len(fleet.workers), Accounts(fleet)
    before, busy = _read(fleet), machine_cpu_seconds()
    begin = time.monotonic()

    def looking(elapsed: float) -> None:
        act(elapsed)
        accounts.look()

    load = _start_load(plan_file, samples_file, fleet.folder / "load.log")
    try:
        _wait(load, begin, plan.seconds + _GRACE_SECONDS, looking)
    finally:
        stop_process(load)
    seconds = time.monotonic() - begin
    if load.returncode or not samples_file.exists():
        raise SystemExit(
            f"The load ended early:\n{(fleet.folder / 'load.log').read_text()[-4000:]}"
        )
    accounts.look()
    told = Told.read(samples_file)
    used = {**accounts.used(), "load": told.cpu}
    others = max(0.0, machine_cpu_seconds() - busy - sum(used.values())) / seconds
    gained = {name: metrics.gained(before.get(name, {}), now) for name, now in _read(fleet).items()}
    made = metrics.together(now for name, now in gained.items() if name != "front")
    front = gained["front"]
    return Outcome(
        workers,
        plan,
        seconds,
        told.samples,
        used,
        metrics.hit_rates(front, made),
        metrics.by_label(made, metrics.CONVERSIONS, "tool", outcome="ok"),
        {
            "worker retries": metrics.total(front, metrics.RETRIES),
            "worker ejections": metrics.total(front, metrics.EJECTIONS),
            "refused conversions": metrics.total(made, metrics.REFUSED),
        },
        others,
    )


def _read(fleet: Fleet) -> dict[str, Reading]:
    """The metrics of all that run."""
    urls = {f"worker-{number}": fleet.worker_url(number) for number in fleet.workers}
    return {name: metrics.read_metrics(url) for name, url in {"front": fleet.url, **urls}.items()}


def _start_load(plan: Path, samples: Path, log: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "bench.load_test.generator", str(plan), str(samples)]
    return start_process(command, log)


def _wait(load: subprocess.Popen[bytes], begin: float, most: float, act: Act) -> None:
    """Waits for the load's end."""
    while load.poll() is None:
        elapsed = time.monotonic() - begin
        if elapsed > most:
            raise SystemExit(f"The load has not ended after {elapsed:.0f} s.")
        act(elapsed)
        time.sleep(_LOOK_SECONDS)
