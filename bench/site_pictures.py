"""Pictures of the pages around the profiles, of a demo that is filled as a team fills a hub.

The sessions are the demo's own with other timings, so that comparing them shows something. Used by
`bench/screenshots.py`, which names and keeps the pictures.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, Page

from loader.catalog import PROFILE_FOLDER
from server.client import HubClient
from server.demo.session import write_session
from server.schemas import Run, Session

_WAIT = 240_000
_LOOKS = 60
_EVENTS = 12_000
_RUN = "llama-8b-sharding"
_NEWEST, _BEFORE = "2026_11_30_08_00_00", "2026_11_29_08_00_00"
_FOLDERS = ((_BEFORE, 4, 3), (_NEWEST, 4, 5))
"""Name of the session, number of its hosts, and the seed of its times."""
_SESSION = f"/runs/{_RUN}/sessions/{_NEWEST}"
_COMPARED = f"/compare?left={_RUN}/{_BEFORE}&right={_RUN}/{_NEWEST}"
_LISTED = ".runs-table tbody tr:nth-child(6) data"
"""The sixth run's size: the hub looks at sessions one after the other."""
_TEAM = (
    ("gemma-finetune-3", "Gemma fine-tuning, third try", "gemma", "FAILED", "research"),
    ("nightly-1129", "Nightly benchmark", "nightly", "COMPLETED", "infra"),
    ("vit-baseline", "ViT-L/16 baseline", "vision", "COMPLETED", "research"),
    ("llama-8b-baseline", "Llama 8B, baseline", "llama", "COMPLETED", "perf"),
    ("nightly-1130", "Nightly benchmark", "nightly", "ACTIVE", "infra"),
    ("llama-70b", "Llama 70B, 256 chips", "llama", "ACTIVE", "perf"),
)
_CONFIGS = {
    "softwareConfigs": {"framework": "JAX", "jax_version": "0.7.2", "libtpu": "0.0.21"},
    "hardwareConfigs": {"device_type": "TPU v5p", "num_devices": "16"},
    "userConfigs": {"batch": "64", "learning_rate": "0.0003", "sharding": "fsdp"},
}


@dataclass(frozen=True)
class SitePicture:
    """One picture.

    Attributes:
        name: of the file, without ending.
        path: of the page, below the hub's address.
        ready: selector of what is waited for.
        width: of the window, in pixels.
        theme: what the reader's system prefers.
        press: selector of a button that leads from the page to what is shown.
    """

    name: str
    path: str
    ready: str
    width: int = 1280
    theme: Literal["light", "dark"] = "light"
    press: str = ""


SITE_PICTURES = (
    SitePicture("run", f"/runs/{_RUN}", ".sessions-table tr:nth-child(2) .spark"),
    # So wide only that what stands beside, with the folder on this machine, comes below.
    SitePicture("session", _SESSION, ".session-paces", width=1080),
    SitePicture("share", f"{_SESSION}/share", ".share-code", press="main form .button-primary"),
    SitePicture("compare", _COMPARED, ".compare-ops"),
    SitePicture("runs", "/runs", _LISTED),
    SitePicture("runs-dark", "/runs", _LISTED, theme="dark"),
    SitePicture("runs-narrow", "/runs", _LISTED, width=390),
)


def write_sessions(folder: Path) -> None:
    """Writes the profiles that the demo is started with into a log directory."""
    for name, hosts, seed in _FOLDERS:
        write_session(folder / PROFILE_FOLDER / name, hosts, _EVENTS, seed)


def fill(hub: str, folder: Path) -> None:
    """Makes a team's runs on a hub that may read the log directory.

    Raises:
        HubError: the hub refuses something, or does not answer.
    """
    with HubClient(hub) as client:
        for run, name, group, state, team in _TEAM:
            told = Run(display_name=name, run_set=group, labels={"team": team}, configs=_CONFIGS)
            client.runs.create(told, run)
            client.runs.update(run, Run.model_validate({"state": state}))
            _attach(client, run, folder, _BEFORE)
        mine = Run(
            display_name="Llama 8B, new sharding",
            run_set="llama",
            labels={"team": "perf", "hardware": "v5p"},
            configs=_CONFIGS,
            note="The all-reduce at the end of a step should be hidden now. Compare with the day before.",
        )
        client.runs.create(mine, _RUN)
        for name, *_ in _FOLDERS:
            _attach(client, _RUN, folder, name)


def _attach(client: HubClient, run: str, folder: Path, name: str) -> None:
    location = str(folder.resolve() / PROFILE_FOLDER / name)
    client.sessions.attach(run, Session(storage_folder_uri=location), name)


def shoot(browser: Browser, hub: str, picture: SitePicture) -> bytes:
    """The picture as PNG, when everything on it is there.

    Raises:
        RuntimeError: what is waited for does not come.
    """
    page = browser.new_page(
        viewport={"width": picture.width, "height": 800}, color_scheme=picture.theme
    )
    page.set_default_timeout(_WAIT)
    try:
        page.goto(f"{hub}{picture.path}")
        if picture.press:
            page.locator(picture.press).first.click()
        _wait_for(page, picture.ready)
        page.wait_for_load_state("networkidle")
        return page.screenshot()
    finally:
        page.close()


def _wait_for(page: Page, ready: str) -> None:
    """Waits for a figure that the hub makes in the background; the list of runs doesn't ask for it again."""
    for _ in range(_LOOKS):
        if page.locator(ready).count():
            return
        page.wait_for_timeout(3000)
        if page.url.count("/share") == 0:
            page.reload()
    raise RuntimeError(f"{page.url} has no {ready}")
