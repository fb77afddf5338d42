"""A hub with too much to do: readers see how many go first, and what they wait for comes by itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import MakeViewer
from tests.browser.modules import Modules
from tests.browser.viewer import FIRST_TIME
from tests.services.cluster import PROFILE_PATH, get
from tests.services.hub import DemoHub, HubFactory
from tests.services.pair import Pair, start_pair, until
from tests.services.pause import paused_engine

QUICK = "module_list"
"""The least that has to be made of a session by the engine."""
LONGEST_WAIT = 240_000
"""Milliseconds."""


def refuse_first(*statuses: int, ahead: int = 0) -> Callable[[Route], None]:
    """Refuses as many requests, which are to come again after a second, and lets all others pass.

    Args:
        statuses: of the refusals, in this order.
        ahead: how many go first, in the body of all; 0 leaves all particulars out, as a proxy would.
    """
    left = list(statuses)
    details = [{"reason": "busy", "ahead": str(ahead)}] if ahead else []
    body = {"error": {"message": "There is much to do.", "details": details}}

    def handle(route: Route) -> None:
        if left:
            route.fulfill(status=left.pop(0), headers={"Retry-After": "1"}, json=body)
        else:
            route.continue_()

    return handle


def has_sample(pair: Pair, sample: str) -> bool:
    """Whether the worker's metrics say this."""
    return f"\nxprof_hub_conversions_{sample}\n" in get(f"{pair.worker.url}/metrics").body.decode()


def test_who_finds_the_line_full_sees_it_and_gets_the_view_by_itself(
    tmp_path: Path, hubs: HubFactory, small_session: Path, viewer: MakeViewer
) -> None:
    pair = start_pair(hubs, tmp_path, XPROF_HUB_CONVERSIONS="1", XPROF_HUB_MOST_WAITING="1")
    first, second, third = (pair.share(small_session, name) for name in "abc")
    with ThreadPoolExecutor(2) as people:
        with paused_engine(pair.worker):
            served = [people.submit(get, f"{first}/{QUICK}")]
            until(lambda: has_sample(pair, 'in_flight{urgency="person"} 1.0'))
            served.append(people.submit(get, f"{second}/{QUICK}"))
            until(lambda: has_sample(pair, 'waiting{urgency="person"} 1.0'))
            shown = viewer(third.removesuffix(PROFILE_PATH))
            shown.page.clock.install()
            shown.open("overview_page")
            notice = shown.wait_for(".xh-notice.xh-passing")
            expect(notice).to_contain_text("Busy, 1 ahead of you")
            expect(notice).to_contain_text("Trying again in ")
            expect(notice.get_by_role("button", name="Try now")).to_be_visible()
        assert [each.result().status for each in served] == [200, 200]
    shown.page.clock.fast_forward(LONGEST_WAIT)
    shown.page.get_by_text("Performance Summary").first.wait_for()
    # What the page asks for at once is more than this line takes: it may have to come back once more.
    expect(shown.page.locator(".xh-notice")).to_have_count(0, timeout=FIRST_TIME)


def test_a_graph_whose_worker_is_busy_is_drawn_later(demo_link: str, viewer: MakeViewer) -> None:
    """On a phone, too, what is waited for and the button stand on the screen; the page says it besides."""
    shown = viewer(demo_link)
    shown.page.set_viewport_size({"width": 360, "height": 800})
    module = next(name for name in shown.get("module_list").split(",") if "train" in name)
    shown.page.route("**/graph_data*", refuse_first(503, ahead=2))
    shown.open("graph_viewer", module_name=module, node_name="all-reduce.39")
    status = shown.page.frame_locator("#graph-html").locator("#graph-status")
    words = "Busy, 2 ahead of you"
    expect(status).to_contain_text(f"{words}. Trying again in ", timeout=FIRST_TIME)
    expect(status.get_by_role("button", name="Try now")).to_be_in_viewport(ratio=1)
    expect(shown.page.locator(".xh-progress")).to_contain_text(f"Graph viewer{words}")
    shown.graph_frame()
    expect(shown.page.locator(".xh-progress, .xh-notice")).to_have_count(0)


def test_a_trace_whose_worker_is_busy_comes_later(demo_link: str, viewer: MakeViewer) -> None:
    """Nor is there XProf's own account of it, which quotes the link's token."""
    shown = viewer(demo_link)
    shown.page.route("**/data?*tag=trace_viewer*", refuse_first(503, ahead=1))
    shown.open("trace_viewer@")
    notice = shown.wait_for(".xh-notice.xh-passing")
    expect(notice).to_contain_text("Busy, 1 ahead of you")
    expect(notice.get_by_role("status")).to_have_text("Busy, 1 ahead of you. There is much to do.")
    frame = shown.page.frame_locator("iframe[src*='trace_viewer_index']")
    expect(frame.locator("tf-trace-viewer")).to_have_count(1)
    expect(frame.locator(".overlay")).to_have_count(0)
    shown.page.locator(".xh-notice").wait_for(state="detached")
    shown.trace_frame()


def test_a_tool_that_is_refused_and_asked_too_often_comes_later(
    demo_link: str, viewer: MakeViewer
) -> None:
    shown = viewer(demo_link)
    shown.page.route("**/data?*tag=hlo_stats*", refuse_first(503, 429))
    shown.open("hlo_stats")
    notice = shown.wait_for(".xh-notice.xh-passing")
    expect(notice).to_contain_text("Busy at the moment")
    expect(notice).to_contain_text("Trying again in ")
    shown.wait_for(".xh-table tbody tr")
    expect(shown.page.locator(".xh-notice")).to_have_count(0)


def test_a_part_of_a_page_is_asked_for_again(demo_hub: DemoHub, page: Page) -> None:
    page.route("**/hosts?looks=*", refuse_first(503))
    page.goto(f"{demo_hub.url}/runs/demo/sessions/four%20hosts")
    expect(page.locator("#spoken")).to_have_text("Busy at the moment")
    expect(page.locator("#hosts table")).to_be_visible(timeout=20_000)


def test_what_a_view_asks_for_besides_is_waited_for_too(modules: Modules) -> None:
    """The view goes on asking for more, which says nothing of what was refused."""
    script = """
      const { dismissNotice } = await load("notice.js");
      const { showRetry } = await load("retry.js");
      const isShown = () => document.querySelector(".xh-notice") !== null;
      history.replaceState(null, "", "?tag=graph_viewer");
      showRetry({ tool: "op_profile", message: "", file: "", status: 503, ahead: 0, retryAfter: 60 });
      dismissNotice("graph_viewer");
      const kept = isShown();
      history.replaceState(null, "", "?tag=hlo_stats");
      dismissNotice("hlo_stats");
      return [kept, isShown()];
    """
    assert modules.run(script) == [True, False]


def run_comeback(modules: Modules, expression: str, argument: object = None) -> object:
    return modules.run(
        f"""
        const {{ isPassing, passingWords, secondsUntil }} = await load("comeback.js");
        return {expression};
        """,
        argument,
    )


PASSING: Sequence[tuple[dict[str, object], str | None]] = (
    ({"status": 503, "reason": "busy", "ahead": 3, "retryAfter": 4}, "Busy, 3 ahead of you"),
    ({"status": 503, "reason": "busy", "ahead": 0, "retryAfter": 4}, "Busy at the moment"),
    ({"status": 503, "reason": "", "ahead": 0, "retryAfter": 0}, "Busy at the moment"),
    ({"status": 429, "reason": "", "ahead": 0, "retryAfter": 9}, "Busy at the moment"),
    (
        {"status": 503, "reason": "storage_unavailable", "ahead": 0, "retryAfter": 5},
        "The profile can’t be reached at the moment",  # noqa: RUF001 - as it is shown
    ),
    (
        {"status": 503, "reason": "worker_full", "ahead": 0, "retryAfter": 30},
        "No worker has room at the moment",
    ),
    (
        {"status": 422, "reason": "incomplete", "ahead": 0, "retryAfter": 5},
        "This file may still be uploading",
    ),
    ({"status": 422, "reason": "incomplete", "ahead": 0, "retryAfter": 0}, None),
    ({"status": 422, "reason": "malformed", "ahead": 0, "retryAfter": 0}, None),
    ({"status": 500, "reason": "internal", "ahead": 0, "retryAfter": 0}, None),
)
"""Failures, and what is said of those that are waited for."""


def test_only_what_passes_is_waited_for(modules: Modules) -> None:
    script = "argument.map((failure) => (isPassing(failure) ? passingWords(failure) : null))"
    told = run_comeback(modules, script, [failure for failure, _ in PASSING])
    assert told == [words for _, words in PASSING]


WAITS = (
    (4, 0, 4),
    (4, 2, 9),  # half as much longer after each try
    (4, 30, 60),
    (90, 30, 90),  # never before the server wants it
    (4000, 0, 120),
    (0, 0, 5),  # who says nothing is asked after a few seconds
)
"""Seconds that the server asks for, tries in vain, and the least seconds that are waited."""


def test_readers_who_failed_together_come_back_one_by_one(modules: Modules) -> None:
    script = "argument.map((asked) => Array.from({ length: 2000 }, () => secondsUntil(...asked)))"
    found = run_comeback(modules, script, [[asked, tries] for asked, tries, _ in WAITS])
    assert isinstance(found, list)
    for waits, (_, _, least) in zip(found, WAITS, strict=True):
        assert min(waits) >= least
        assert max(waits) <= 2 * least
        # Evenly over as many seconds again: no quarter of the time has much more than its share.
        quarter = sum(wait < least * 1.25 for wait in waits)
        assert 400 <= quarter <= 600
