"""XProf drops its charts and tables without a word: what is out of the page must not be kept by us."""

from __future__ import annotations

from tests.browser.conftest import MakeViewer
from tests.browser.modules import Modules
from tests.browser.viewer import Viewer

GO = """(tool) => {
  history.pushState({navigationId: 1}, '', `${tool}?tag=${tool}`);
  dispatchEvent(new PopStateEvent('popstate', {state: null}));
}"""
LEAST_VISIT = 1000
"""Nodes of one view of the roofline model, which holds a long table."""


def _nodes(shown: Viewer) -> int:
    """How many nodes the browser keeps, in the page or out of it."""
    browser = shown.page.context.new_cdp_session(shown.page)
    browser.send("HeapProfiler.collectGarbage")
    return int(browser.send("Memory.getDOMCounters")["nodes"])


def test_views_that_are_gone_are_let_go(demo_link: str, viewer: MakeViewer) -> None:
    shown = viewer(demo_link)

    def visit() -> int:
        shown.page.evaluate(GO, "roofline_model")
        shown.wait_for("roofline-model .xh-table tr[data-row]")
        # XProf draws again while its filters settle.
        shown.page.wait_for_timeout(1000)
        shown.page.evaluate(GO, "overview_page")
        shown.wait_for("overview-page performance-summary")
        shown.page.wait_for_timeout(500)
        # The browser tells observers of what has gone when it draws.
        shown.page.screenshot()
        return _nodes(shown)

    shown.open("overview_page")
    shown.wait_for("overview-page performance-summary")
    after = [visit() for _ in range(4)]
    assert after[-1] - after[1] < LEAST_VISIT, after


def test_a_long_table_goes_on_when_it_comes_back(modules: Modules) -> None:
    script = """
      const box = document.getElementById('box');
      const rows = Array.from({length: 500}, (_, row) => [`op ${row}`]);
      const data = google.visualization.arrayToDataTable([['op'], ...rows]);
      new google.visualization.Table(box).draw(data, {height: 200});
      const pause = () => new Promise((resolve) => setTimeout(resolve, 200));
      await pause();
      const after = box.nextSibling;
      box.remove();
      await pause();
      document.body.insertBefore(box, after);
      await pause();
      box.querySelector('.xh-table-scroll').scrollTop = 1e6;
      await pause();
      return box.textContent.includes('op 499');
    """
    assert modules.run(script)
