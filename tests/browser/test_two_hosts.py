"""With a host name of its own for links, a browser shows every kind of tool from there and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.browser.conftest import MakeViewer
from tests.services.hub import HubFactory, share
from tests.services.processes import free_port


@pytest.fixture(scope="module")
def link(tmp_path_factory: pytest.TempPathFactory, small_session: Path) -> Iterator[str]:
    """A link of a hub that is 127.0.0.1 for the API, and localhost for links."""
    factory = HubFactory(tmp_path_factory.mktemp("two-hosts"))
    port = free_port()
    settings = {
        "XPROF_HUB_STORAGE_ROOTS": str(small_session),
        "XPROF_HUB_BASE_URL": f"http://127.0.0.1:{port}",
        "XPROF_HUB_CONTENT_URL": f"http://localhost:{port}",
    }
    try:
        yield share(factory.start(settings, port=port).url, "demo", "two hosts", small_session)
    finally:
        factory.stop_all()


def test_the_link_is_on_the_content_host_and_shows_tools(link: str, viewer: MakeViewer) -> None:
    assert urlsplit(link).hostname == "localhost"
    shown = viewer(link)
    shown.open("overview_page")
    shown.page.get_by_text("Performance Summary").first.wait_for()
    shown.wait_for("svg[role=img]")
    shown.open("trace_viewer@")
    shown.trace_frame()
    assert shown.complaints() == {}


def test_a_link_on_the_other_host_leads_there(link: str, viewer: MakeViewer) -> None:
    other = link.replace("localhost", "127.0.0.1", 1)
    shown = viewer(link)
    shown.page.goto(f"{other}?tag=hlo_stats")
    shown.wait_for(".xh-table tbody tr")
    assert urlsplit(shown.page.url).hostname == "localhost"
    assert shown.errors == []


def test_the_content_host_answers_nothing_else(link: str, viewer: MakeViewer) -> None:
    shown = viewer(link)
    for path in ("/v1/machineLearningRuns", "/docs", "/openapi.json"):
        answer = shown.page.request.get(link.partition("/s/")[0] + path)
        assert answer.status == 404, path
