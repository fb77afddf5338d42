"""How fast the browser draws, sorts and scrolls our charts and tables, on a page of our modules alone.

    python -m bench.charts [--chromium /usr/bin/chromium] [--repeat 5]

Two figures per case: `performance.now()` inside the page, from the call until the page is laid out again;
and the CPU time of the page's main thread until the next frame, which a busy machine does not change.
The issue's target is 100 ms.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Mapping
from dataclasses import dataclass

from playwright.sync_api import CDPSession, Page, sync_playwright

from tests.browser.modules import Modules, served_modules

TARGET_MS = 100.0

PRELUDE = """
  const box = document.getElementById('box');
  box.style.cssText = 'width: 1100px; height: 400px';
  const random = (() => { let seed = 1; return () => (seed = (seed * 16807) % 2147483647) / 2147483647; })();
  const {DataTable, AreaChart, ColumnChart, Table} = google.visualization;
"""

ACT = """async () => {
  const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  const start = performance.now();
  globalThis.act();
  document.body.getBoundingClientRect();
  const took = performance.now() - start;
  await frame();
  await frame();
  return took;
}"""

STATS = """
  const data = new DataTable();
  for (let column = 0; column < 12; column++)
    data.addColumn(column % 4 ? 'number' : 'string', `Column ${column}`);
  const text = (row) =>
    `%fusion.${row} = f32[1024,512]{1,0} fusion(f32[4,128,1024] %p.${row}), kind=kLoop `.repeat(3);
  data.addRows(Array.from({length: 5000}, (_, row) =>
    Array.from({length: 12}, (_, column) => (column % 4 ? random() * 1000 : text(row)))));
  const table = new Table(box);
  const options = {allowHtml: true, height: '600px', showRowNumber: true};
"""

MEMORY = """
  const data = new DataTable();
  for (const name of ['t', 'stack', 'heap', 'fragmentation']) data.addColumn('number', name);
  data.addRows(Array.from({length: 20000}, (_, t) => [t, 1 + random(), 4 * random(), 100 * random()]));
  const chart = new AreaChart(box);
  const options = {
    isStacked: true, vAxes: {0: {}, 1: {}}, series: {2: {targetAxisIndex: 1, type: 'line'}},
  };
"""

COLUMNS = """
  const data = new DataTable();
  data.addColumn('string', 'op');
  data.addColumn('number', 'GFLOPS');
  data.addRows(Array.from({length: 5000}, (_, op) => [`op ${op}`, random() * 1e5]));
  const chart = new ColumnChart(box);
  const options = {legend: 'none'};
"""

CASES: Mapping[str, tuple[str, str]] = {
    "table of 5,000 rows: draw": (STATS, "table.draw(data, options)"),
    "table of 5,000 rows: sort": (
        f"{STATS} table.draw(data, options);",
        "box.querySelectorAll('th button')[1].click()",
    ),
    "table of 5,000 rows: scroll": (
        f"{STATS} table.draw(data, options); const view = box.querySelector('.xh-table-scroll');",
        "view.scrollTo(0, view.scrollHeight / 2)",
    ),
    "memory timeline of 20,000 points: draw": (MEMORY, "chart.draw(data, options)"),
    "5,000 columns: draw": (COLUMNS, "chart.draw(data, options)"),
    "5,000 columns: point": (
        f"{COLUMNS} chart.draw(data, options);",
        "box.firstElementChild.dispatchEvent(new MouseEvent('mousemove', {clientX: 500, clientY: 200}))",
    ),
}
"""What is prepared, and what is measured."""


@dataclass(frozen=True)
class Taken:
    """Milliseconds of one repetition: by the clock until laid out, and of CPU until painted."""

    clock: float
    cpu: float


def main_thread_ms(debugger: CDPSession) -> float:
    """CPU time that the page's main thread has used for tasks."""
    metrics = debugger.send("Performance.getMetrics")["metrics"]
    return 1000 * next(float(one["value"]) for one in metrics if one["name"] == "TaskDuration")


def measure(page: Page, url: str, case: str) -> Taken:
    """Measures a case once, on a fresh page."""
    prepare, act = CASES[case]
    Modules(page, url).run(f"{PRELUDE} {prepare} globalThis.act = () => {act};")
    page.wait_for_timeout(200)
    debugger = page.context.new_cdp_session(page)
    debugger.send("Performance.enable", {"timeDomain": "threadTicks"})
    before = main_thread_ms(debugger)
    clock = float(page.evaluate(ACT))
    taken = Taken(clock, main_thread_ms(debugger) - before)
    debugger.detach()
    return taken


def main() -> None:
    """Prints the medians of every case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    parser.add_argument("--repeat", type=int, default=5)
    arguments = parser.parse_args()
    with served_modules() as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=arguments.chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        print(f"{'milliseconds':44}  clock    CPU")
        for case in CASES:
            taken = [measure(page, url, case) for _ in range(arguments.repeat)]
            clock = statistics.median(one.clock for one in taken)
            cpu = statistics.median(one.cpu for one in taken)
            late = "" if min(clock, cpu) < TARGET_MS else "  over the target"
            print(f"{case:44} {clock:6.1f} {cpu:6.1f}{late}")
        browser.close()


if __name__ == "__main__":
    main()
