"""Opens the same session of XProf and of XProf Hub in a real browser, and compares what comes and when.

    python bench/browser.py [--markdown] [--hosts 4] [--events 20000] [--rounds 7] [--repeats 3]

Both servers have converted the session before. In each round, each opens the overview and the trace of one
host: first with a new browser profile, then some times more with the same one, so that the browser's caches
of files and of compiled scripts act as they do for people. The servers take turns, and who is first changes;
the tables show medians. The browser reaches no other host: XProf's own page gets no charts that way, and
transfers and draws less than it would.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Playwright, sync_playwright

from bench.accounting import machine
from bench.browser_opening import OVERVIEW, TRACE, browser_profile, open_page
from bench.browser_report import FIRST, REPEAT, Measurement, Report, median, print_report
from bench.contenders import RUN, Contender, Hub, XprofServer
from bench.users import User, is_complete
from loader.storage.base import XPLANE_SUFFIX
from server.demo.session import write_session
from server.serve import stop_on_terminate

_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@dataclass(frozen=True)
class Plan:
    """What is measured.

    Attributes:
        program: the browser.
        host: the host whose trace is opened.
        rounds: how often, each with a new browser profile.
        repeats: openings with the same profile after the first one.
    """

    program: Path
    host: str
    rounds: int
    repeats: int


def find_browser() -> Path:
    """The browser's program: CHROMIUM from the environment, or the first one on PATH."""
    names = [os.environ["CHROMIUM"]] if "CHROMIUM" in os.environ else _BROWSERS
    for name in names:
        found = shutil.which(name)
        if found:
            return Path(found)
    raise SystemExit(f"No browser: none of {', '.join(names)} is on PATH.")


def convert(contender: Contender, host: str) -> None:
    """Has a server convert what is opened later."""
    user = User(contender.base, RUN)
    try:
        if not is_complete(user.open_overview()) or not is_complete(user.open_trace(host)):
            raise SystemExit(f"{contender.name} could not convert the session.")
    finally:
        user.close()


def measure(
    playwright: Playwright, contender: Contender, page: str, plan: Plan
) -> Iterator[Measurement]:
    """One page of one server with a new browser profile."""
    with (
        tempfile.TemporaryDirectory(
            prefix="xprof-hub-browser-", ignore_cleanup_errors=True
        ) as folder,
        browser_profile(playwright, plan.program, Path(folder)) as browser,
    ):
        for number in range(1 + plan.repeats):
            opening = open_page(browser, contender.base, page, plan.host)
            yield Measurement(contender.name, page, REPEAT if number else FIRST, opening)


def run(plan: Plan, contenders: list[Contender]) -> list[Measurement]:
    """All rounds; in each, the servers take turns, and who is first changes."""
    found: list[Measurement] = []
    for contender in contenders:
        convert(contender, plan.host)
    with sync_playwright() as playwright:
        for number in range(plan.rounds):
            for page in (OVERVIEW, TRACE):
                for contender in contenders if number % 2 == 0 else reversed(contenders):
                    found += measure(playwright, contender, page, plan)
    return found


def main() -> None:
    """Reads the command line, measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--hosts", type=int, default=4)
    parser.add_argument("--events", type=int, default=20_000, help="events per host")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--repeats", type=int, default=3, help="openings after the first one")
    parser.add_argument("--markdown", action="store_true", help="print for docs/performance.md")
    arguments = parser.parse_args()
    program = find_browser()
    stop_on_terminate()
    with ExitStack() as at_end:
        folder = Path(at_end.enter_context(tempfile.TemporaryDirectory(prefix="xprof-hub-bench-")))
        session = folder / "session"
        session.mkdir()
        write_session(session, arguments.hosts, arguments.events)
        files = sorted(session.glob(f"*{XPLANE_SUFFIX}"))
        size = sum(path.stat().st_size for path in files) / 1e6
        host = files[0].name.removesuffix(XPLANE_SUFFIX)
        contenders: list[Contender] = []
        for kind in (XprofServer, Hub):
            own = folder / kind.__name__
            own.mkdir()
            contenders.append(kind(session, own))
            at_end.callback(contenders[-1].stop)
        found = run(Plan(program, host, arguments.rounds, arguments.repeats), contenders)
    about = f"{len(files)} hosts, {size:.0f} MB, medians of {arguments.rounds} rounds"
    print_report(Report(median(found)), about, machine(), arguments.markdown)


if __name__ == "__main__":
    main()
