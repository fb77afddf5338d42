"""Browser tests open a real link in the distribution's Chromium and note everything that goes wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser.modules import Modules, served_modules
from tests.browser.viewer import CHROMIUM_ARGUMENTS, Viewer
from tests.services.hub import HubFactory, share

MakeViewer = Callable[[str], Viewer]
PATIENCE = 30_000
"""Milliseconds that `expect` waits where a test says nothing else; 5 s are too few when a machine is busy."""


@pytest.fixture(scope="package")  # its event loop must have ended before other tests run theirs
def browser(chromium: Path) -> Iterator[Browser]:
    """One Chromium for all tests."""
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(
            executable_path=str(chromium), args=list(CHROMIUM_ARGUMENTS)
        )
        yield launched
        launched.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page with a cache of its own."""
    opened = browser.new_page(viewport={"width": 1440, "height": 900})
    yield opened
    opened.close()


@pytest.fixture
def viewer(page: Page) -> MakeViewer:
    """Makes a viewer of a link."""
    return lambda link: Viewer(page, link)


@pytest.fixture(scope="session")
def prefixed_link(tmp_path_factory: pytest.TempPathFactory, small_session: Path) -> Iterator[str]:
    """Link to a session on a hub below `/team/xprof`."""
    factory = HubFactory(tmp_path_factory.mktemp("prefixed-hub"))
    settings = {
        "XPROF_HUB_STORAGE_ROOTS": str(small_session),
        "XPROF_HUB_PATH_PREFIX": "/team/xprof",
    }
    try:
        hub = factory.start(settings)
        yield share(hub.url, "demo", "two hosts", small_session)
    finally:
        factory.stop_all()


@pytest.fixture(scope="session")
def other_links(
    tmp_path_factory: pytest.TempPathFactory, other_sessions: Mapping[str, Path]
) -> Iterator[Mapping[str, str]]:
    """Links to the sessions of `other_sessions`, by their names, on one hub."""
    factory = HubFactory(tmp_path_factory.mktemp("others-hub"))
    root = other_sessions["jax"].parent
    try:
        hub = factory.start({"XPROF_HUB_STORAGE_ROOTS": str(root)})
        yield {
            name: share(hub.url, f"run {name}", f"session {name}", folder)
            for name, folder in other_sessions.items()
        }
    finally:
        factory.stop_all()


@pytest.fixture(scope="session")
def modules_url() -> Iterator[str]:
    """Address of our static files, served by themselves."""
    with served_modules() as url:
        yield url


@pytest.fixture
def modules(page: Page, modules_url: str) -> Modules:
    """A page in which our modules can be imported."""
    return Modules(page, modules_url)
