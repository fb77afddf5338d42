"""Opens the same session in XProf and in XProf Hub, and compares what it costs.

    python bench/first_open.py [--markdown] [--hosts 4] [--events 100000] [--rounds 3] [--session FOLDER]

For one user and for eight users at once, each server gets a fresh copy of the session and starts with no
cache. Measured are the seconds until the last user has everything, and the CPU seconds of the server's
whole process tree until it rests again: for the first overview (tools, hosts, data), the first trace, and a
repeated open of both. The servers take turns within a round; the table shows medians over the rounds.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.accounting import adopt_orphans, machine, settled_cpu_seconds
from bench.contenders import RUN, Contender, Hub, XprofServer
from bench.report import Measurement, print_report
from bench.users import Answer, Opening, User, open_at_once
from loader.storage.base import XPLANE_SUFFIX
from server.demo.session import write_session
from server.serve import stop_on_terminate

CROWDS = (1, 8)
Page = Callable[[User], list[Answer]]
MOST_REPEATS = 20
LEAST_REPEATS = 3
REPEAT_SECONDS = 15.0
"""A repeated open is measured over as many as fit into this time, so that small CPU times can be told."""
REST_SECONDS = 8.0
"""XProf's gRPC channel to itself is up some seconds after its port: without this rest its first answer
would seem slower than it is."""


@dataclass(frozen=True)
class Plan:
    """What is measured.

    Attributes:
        session: folder with the profile files.
        host: the host whose trace is opened.
        rounds: how often.
    """

    session: Path
    host: str
    rounds: int


def measure(contender: Contender, users: int, host: str) -> list[Measurement]:
    """First overview, first trace and repeated opens for a crowd."""
    crowd = [User(contender.base, RUN) for _ in range(users)]

    def step(what: str, pages: Sequence[Page], most: int = 1) -> Measurement:
        openings: list[Opening] = []
        conversions = contender.conversions()
        cpu = settled_cpu_seconds()
        begin = time.monotonic()
        while not enough(len(openings) // len(pages), most, time.monotonic() - begin):
            openings += [open_at_once(crowd, page) for page in pages]
        repeats = len(openings) // len(pages)
        return Measurement(
            contender=contender.name,
            users=users,
            what=what,
            seconds=sum(opening.seconds for opening in openings) / repeats,
            cpu_seconds=(settled_cpu_seconds() - cpu) / repeats,
            conversions=contender.conversions() - conversions,
            complete=min(opening.complete for opening in openings) / users,
        )

    def trace(user: User) -> list[Answer]:
        return user.open_trace(host)

    try:
        overview = User.open_overview
        return [
            step("overview", [overview]),
            step("trace", [trace]),
            step("repeat", [overview, trace], MOST_REPEATS),
        ]
    finally:
        for user in crowd:
            user.close()


def enough(done: int, most: int, seconds: float) -> bool:
    """Whether a step has been repeated enough: `most` times, or fewer when that takes long."""
    return done >= most or (done >= LEAST_REPEATS and seconds > REPEAT_SECONDS)


def run(plan: Plan) -> list[Measurement]:
    """All rounds; in each, the servers take turns, and who is first changes."""
    found: list[Measurement] = []
    for number in range(plan.rounds):
        kinds: Sequence[type[XprofServer] | type[Hub]] = (XprofServer, Hub)
        for users in CROWDS:
            for kind in kinds if number % 2 == 0 else reversed(kinds):
                with tempfile.TemporaryDirectory(prefix="xprof-hub-bench-") as folder:
                    contender = kind(plan.session, Path(folder))
                    try:
                        time.sleep(REST_SECONDS)
                        found += measure(contender, users, plan.host)
                    finally:
                        contender.stop()
    return found


def median(measurements: Sequence[Measurement]) -> list[Measurement]:
    """One measurement for each server, crowd and step: medians over the rounds, the worst completeness."""
    groups: dict[tuple[str, int, str], list[Measurement]] = {}
    for measurement in measurements:
        key = (measurement.contender, measurement.users, measurement.what)
        groups.setdefault(key, []).append(measurement)
    return [
        Measurement(
            *key,
            seconds=statistics.median(each.seconds for each in group),
            cpu_seconds=statistics.median(each.cpu_seconds for each in group),
            conversions=max(each.conversions for each in group),
            complete=min(each.complete for each in group),
        )
        for key, group in groups.items()
    ]


def main() -> None:
    """Reads the command line, measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--hosts", type=int, default=4)
    parser.add_argument("--events", type=int, default=100_000, help="events per host")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--session", type=Path, help="folder with profile files of your own")
    parser.add_argument("--markdown", action="store_true", help="print for docs/performance.md")
    arguments = parser.parse_args()
    adopt_orphans()
    stop_on_terminate()
    with tempfile.TemporaryDirectory(prefix="xprof-hub-bench-") as folder:
        session = arguments.session or Path(folder)
        if arguments.session is None:
            write_session(session, arguments.hosts, arguments.events)
        files = sorted(session.glob(f"*{XPLANE_SUFFIX}"))
        if not files:
            raise SystemExit(f"{session} holds no file that ends in {XPLANE_SUFFIX}.")
        size = sum(path.stat().st_size for path in files) / 1e6
        plan = Plan(session, files[0].name.removesuffix(XPLANE_SUFFIX), arguments.rounds)
        found = median(run(plan))
    about = f"{len(files)} hosts, {size:.0f} MB, median of {plan.rounds} rounds"
    print_report(found, about, machine(), arguments.markdown)


if __name__ == "__main__":
    main()
