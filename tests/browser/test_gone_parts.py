"""What a reader sees when one part behind an open page is gone: a sentence, and nothing turns for ever."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import MakeViewer
from tests.browser.test_stuck import TURNING, ask, choose, expect_words, sessions_url
from tests.browser.viewer import FIRST_TIME, Viewer
from tests.services.cluster import PROFILE_PATH
from tests.services.hub import HubFactory, HubProcess, copy_of, share
from tests.services.pair import start_pair
from tests.services.postgres import PostgresServer
from tests.services.redis import RedisServer

TABLE = ".xh-table tbody tr"


@pytest.fixture
def own_folder(small_session: Path, tmp_path: Path) -> Path:
    """A session that a test may take away."""
    return copy_of(small_session, tmp_path / "session")


def opened(viewer: MakeViewer, link: str) -> Viewer:
    """A page whose overview is there."""
    shown = viewer(link)
    shown.open("overview_page")
    shown.page.get_by_text("Performance Summary").first.wait_for()
    return shown


def start(hubs: HubFactory, folder: Path, **settings: str) -> tuple[HubProcess, str]:
    """A hub on one session, and a link to it."""
    hub = hubs.start({"XPROF_HUB_STORAGE_ROOTS": str(folder), **settings})
    return hub, share(hub.url, "run", "session", folder)


def test_a_deleted_session_is_said(hubs: HubFactory, own_folder: Path, viewer: MakeViewer) -> None:
    hub, link = start(hubs, own_folder)
    shown = opened(viewer, link)
    ask(sessions_url(hub), "DELETE")
    choose(shown, "HLO Op Stats")
    expect_words(shown, "This link no longer works")


def test_storage_that_is_gone_is_said(
    hubs: HubFactory, own_folder: Path, viewer: MakeViewer
) -> None:
    _, link = start(hubs, own_folder)
    shown = opened(viewer, link)
    own_folder.rename(own_folder.with_name("elsewhere"))
    choose(shown, "HLO Op Stats")
    notice = shown.page.locator(".xh-notice, .xh-message")
    expect(notice.first).to_be_visible(timeout=FIRST_TIME)
    expect(notice.first).to_contain_text(".")
    expect(shown.page.locator(TURNING)).to_have_count(0, timeout=FIRST_TIME)


def test_a_worker_that_is_gone_is_said(
    hubs: HubFactory, small_session: Path, tmp_path: Path, viewer: MakeViewer
) -> None:
    pair = start_pair(hubs, tmp_path)
    shown = opened(viewer, pair.share(small_session, "run").removesuffix(PROFILE_PATH))
    pair.worker.kill()
    choose(shown, "HLO Op Stats")
    notice = shown.page.locator(".xh-notice")
    expect(notice).to_contain_text(".", timeout=FIRST_TIME)
    expect(shown.page.locator(TURNING)).to_have_count(0, timeout=FIRST_TIME)


def test_without_redis_the_page_goes_on(
    hubs: HubFactory, own_folder: Path, viewer: MakeViewer, redis_server: RedisServer
) -> None:
    redis_server.start()
    _, link = start(hubs, own_folder, XPROF_HUB_REDIS_URL=redis_server.url)
    shown = opened(viewer, link)
    redis_server.stop()
    try:
        choose(shown, "HLO Op Stats")
        shown.wait_for(f"{TABLE}, .xh-notice")
        expect(shown.page.locator(TURNING)).to_have_count(0, timeout=FIRST_TIME)
    finally:
        redis_server.start()


def test_a_database_that_is_gone_is_said(
    hubs: HubFactory,
    own_folder: Path,
    viewer: MakeViewer,
    postgres_server: PostgresServer,
    postgres_url: str,
) -> None:
    _, link = start(hubs, own_folder, XPROF_HUB_DATABASE_URL=postgres_url)
    shown = opened(viewer, link)
    postgres_server.stop()
    try:
        choose(shown, "HLO Op Stats")
        shown.wait_for(f"{TABLE}, .xh-notice")
        expect(shown.page.locator(TURNING)).to_have_count(0, timeout=FIRST_TIME)
    finally:
        postgres_server.start()


def test_a_graph_stays_usable_without_a_network(demo_link: str, viewer: MakeViewer) -> None:
    shown = viewer(demo_link)
    module = next(name for name in shown.get("module_list").split(",") if "train" in name)
    op = "copy_bitcast_fusion.54"
    shown.open("graph_viewer", module_name=module, node_name=op, graph_width="1")
    shown.graph_frame()
    shown.page.context.set_offline(True)
    graph = shown.page.frame_locator("#graph-html")
    graph.get_by_label("Find an op in this graph").fill("parameter")
    expect(graph.locator("output")).to_contain_text("1 of ")
    graph.get_by_role("button", name="Zoom in").click()
    choose(shown, "HLO Op Stats")
    expect_words(shown, "did not answer")
