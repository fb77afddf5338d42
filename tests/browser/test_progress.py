"""Who waits for a conversion sees how far it is, in the page and in the trace viewer's frame."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Route, expect

from tests.browser.conftest import MakeViewer
from tests.browser.modules import Modules
from tests.browser.viewer import FIRST_TIME
from tests.services.cluster import PROFILE_PATH, get
from tests.services.hub import HubFactory
from tests.services.pair import Pair, lookups, start_pair, until
from tests.services.pause import paused_engine

COUNTS_ON = re.compile(r"Converting: (?!1 s )(\d+ min )?\d+ s so far")
SENTENCE = "The file ends in the middle of a record."


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    folder = tmp_path_factory.mktemp("browser-progress")
    factory = HubFactory(folder)
    yield start_pair(factory, folder, XPROF_HUB_PREWARM="true")
    factory.stop_all()


def link_to(pair: Pair, session: Path, name: str) -> str:
    return pair.share(session, name).removesuffix(PROFILE_PATH)


def wait_until_prewarmed(pair: Pair, run: str) -> None:
    session = f"{pair.front.url}/v1/machineLearningRuns/{run}/profilerSessions/s"
    until(lambda: json.loads(get(session).body)["prewarm"] == "done")


def test_a_long_conversion_is_shown_until_the_view_is_there(
    pair: Pair, small_session: Path, viewer: MakeViewer
) -> None:
    with paused_engine(pair.worker):
        shown = viewer(link_to(pair, small_session, "long"))
        shown.open("overview_page")
        card = shown.wait_for(".xh-progress")
        # A slow machine may show the card late: it counts on from wherever the conversion is.
        expect(card).to_contain_text(COUNTS_ON, timeout=FIRST_TIME)
        bar = card.get_by_role("progressbar")
        assert "Converting: " in (bar.get_attribute("aria-valuetext") or "")
        assert bar.get_attribute("aria-valuenow") is None
        expect(card.locator("[aria-live=polite]")).to_have_text(
            "Opening the session: Converting the profile"
        )
    shown.page.get_by_text("Performance Summary").first.wait_for()
    expect(shown.page.locator(".xh-progress")).to_have_count(0, timeout=FIRST_TIME)
    assert shown.complaints() == {}


def test_the_trace_viewers_frame_reports_to_the_page(
    pair: Pair, small_session: Path, viewer: MakeViewer
) -> None:
    shown = viewer(link_to(pair, small_session, "trace"))
    wait_until_prewarmed(pair, "trace")
    host = max(path.name for path in small_session.iterdir()).removesuffix(".xplane.pb")
    with paused_engine(pair.worker):
        shown.open("trace_viewer@", host=host, hosts=host)
        card = shown.wait_for(".xh-progress")
        expect(card).to_contain_text("Trace viewer", timeout=FIRST_TIME)
        expect(card).to_contain_text("Converting: ", timeout=FIRST_TIME)
        # Whoever leaves the view does not wait for it any more.
        shown.page.goto(f"{shown.base}?tag=overview_page")
        shown.page.get_by_text("Performance Summary").first.wait_for()
        expect(shown.page.locator(".xh-progress")).to_have_count(0)
    shown.open("trace_viewer@", host=host, hosts=host)
    shown.trace_frame()
    expect(shown.page.locator(".xh-progress")).to_have_count(0, timeout=FIRST_TIME)


def test_the_graphs_frame_reports_to_the_page(
    pair: Pair, small_session: Path, viewer: MakeViewer
) -> None:
    shown = viewer(link_to(pair, small_session, "graph"))
    wait_until_prewarmed(pair, "graph")
    module = next(name for name in shown.get("module_list").split(",") if "train" in name)
    # What XProf asks for beside the graph is there after this.
    shown.open("graph_viewer", module_name=module, node_name="no-such-op")
    shown.page.frame_locator("#graph-html").locator("#graph-status.failed").wait_for()
    with paused_engine(pair.worker):
        shown.open("graph_viewer", module_name=module, node_name="all-reduce.39")
        card = shown.wait_for(".xh-progress")
        expect(card).to_contain_text("Graph viewer", timeout=FIRST_TIME)
    shown.graph_frame()
    expect(shown.page.locator(".xh-progress")).to_have_count(0, timeout=FIRST_TIME)


def test_the_first_click_of_a_prewarmed_session_is_a_hit(
    pair: Pair, small_session: Path, viewer: MakeViewer
) -> None:
    shown = viewer(link_to(pair, small_session, "hit"))
    wait_until_prewarmed(pair, "hit")
    before = lookups(pair.front)
    shown.page.goto(shown.base)
    shown.page.get_by_text("Performance Summary").first.wait_for()
    shown.page.locator("mat-select", has_text="Overview Page").click()
    shown.page.locator("mat-option", has_text="Trace Viewer").click()
    shown.trace_frame()
    after = lookups(pair.front)
    assert after.get("miss", 0) == before.get("miss", 0)
    # Status, tools, overview and trace.
    assert after["hit"] >= before.get("hit", 0) + 4


def test_progress_gives_way_to_the_reason_why_there_is_no_view(
    demo_link: str, viewer: MakeViewer
) -> None:
    shown = viewer(demo_link)
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    known = {"state": "running", "phase": "inspect", "seconds": 1, "ahead": 0}
    shown.page.route("**/data?*tag=hlo_stats*", hold)
    # The later route goes first: the address of the progress ends like that of the data.
    shown.page.route("**/progress/**", lambda route: route.fulfill(json=known))
    shown.open("hlo_stats")
    expect(shown.wait_for(".xh-progress")).to_contain_text("Hlo stats", timeout=FIRST_TIME)
    expect(shown.page.locator(".xh-progress")).to_contain_text("Checking the profile")
    # On a slow machine what is asked for the tool before its data, its hosts, is shown as well.
    while not held:
        shown.page.wait_for_timeout(100)
    held[0].fulfill(status=422, json={"error": {"message": SENTENCE}})
    assert SENTENCE in shown.wait_for(".xh-notice").inner_text()
    expect(shown.page.locator(".xh-progress")).to_have_count(0)


@pytest.mark.parametrize(
    ("known", "seconds", "text"),
    [
        (
            {"phase": "download", "doneBytes": 120e6, "totalBytes": 300e6},
            3,
            "Downloading 120 of 300 MB",
        ),
        (
            {"phase": "download", "doneBytes": 0.4e6, "totalBytes": 2.9e6},
            1,
            "Downloading 0.4 of 2.9 MB",
        ),
        ({"phase": "download", "doneBytes": 0, "totalBytes": 0}, 1, "Downloading the profile"),
        ({"phase": "inspect"}, 1, "Checking the profile"),
        ({"phase": "convert"}, 12.9, "Converting: 12 s so far"),
        ({"phase": "convert"}, 125, "Converting: 2 min 5 s so far"),
        ({"phase": "wait", "ahead": 3}, 1, "Busy, 3 ahead of you"),
        ({"phase": "wait", "ahead": 1}, 1, "Busy, 1 ahead of you"),
        ({"phase": "wait", "ahead": 0}, 1, "Waiting: next in line"),
        ({"state": "ready"}, 1, "Receiving the answer"),
        ({"state": "idle"}, 1, "Preparing"),
        # A platform that starts a worker takes 10 s and more.
        ({"state": "idle"}, 12.4, "Waiting for a worker: 12 s"),
        ({"state": "busy", "ahead": 2}, 1, "Busy, 2 ahead of you"),
        ({"state": "busy", "ahead": 0}, 1, "Busy at the moment"),
    ],
)
def test_every_phase_has_words(
    modules: Modules, known: dict[str, object], seconds: float, text: str
) -> None:
    script = """
      const { describe } = await load("progress.js");
      return describe(argument.known, argument.seconds).text;
    """
    argument = {"known": {"state": "running", **known}, "seconds": seconds}
    assert modules.run(script, argument) == text


@pytest.mark.parametrize(
    ("status", "pauses"),
    [
        (200, [500, 500, 650, 845, 1099, 1428, 1856, 2000, 2000]),
        (503, [500, 500, 1000, 2000, 4000, 8000, 10000, 10000, 10000]),
    ],
)
def test_a_server_that_cannot_say_is_asked_less_often(
    modules: Modules, status: int, pauses: list[int]
) -> None:
    script = """
      const { beginProgress, endProgress } = await load("progress.js");
      const request = { id: "1", tool: "hlo_stats", name: "data", query: "" };
      const pauses = [];
      const later = window.setTimeout;
      window.fetch = async () => Response.json({ state: "idle" }, { status: argument });
      await new Promise((done) => {
        window.setTimeout = (call, pause) => {
          if (pause < 500 || pause === 6000) return; // what is read out, and how long an answer may take
          pauses.push(Math.round(pause));
          if (pauses.length < 9) {
            later(call, 0);
          } else {
            endProgress(request);
            done();
          }
        };
        beginProgress(request);
      });
      return pauses;
    """
    assert modules.run(script, status) == pauses
