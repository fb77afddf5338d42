"""Takes the pictures of docs/img/: every tool on the demo's session, as somebody who opens the link sees it.

    python bench/screenshots.py [--only NAME] [--out FOLDER]

`bench/site_pictures.py` has the pages around the profiles. Each picture is what the browser draws; the only
change afterwards is a palette of 256 colours, which keeps the files small. Pictures differ a little from run
to run where times of loading play a part.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import urlencode

from PIL import Image
from playwright.sync_api import Browser, Frame, Page, sync_playwright

from bench.site_pictures import SITE_PICTURES, SitePicture, fill, shoot, write_sessions

FOLDER = Path(__file__).parents[1] / "docs" / "img"
LARGEST_BYTES = 200_000
_WAIT = 120_000
_HOST = "t1v-n-3c1f2ab0-w-0"
_CHART = "svg[role=img]"
_HAS_EVENTS = """() => {
  const model = document.querySelector("tf-trace-viewer")?._traceViewer?.model;
  return Boolean(model && [...model.getDescendantEvents()].length);
}"""
_TABLE = "table tbody tr td"


@dataclass(frozen=True)
class Picture:
    """One picture.

    Attributes:
        name: of the file, without ending.
        tool: XProf's name of what is opened.
        ready: selector of what is waited for.
        query: the rest of the address.
        width: of the window, in pixels.
        theme: what the reader's system prefers.
        open_menu: selector of a button that is pressed first.
    """

    name: str
    tool: str
    ready: str
    query: tuple[tuple[str, str], ...] = (("host", _HOST),)
    width: int = 1440
    theme: Literal["light", "dark"] = "light"
    open_menu: str = ""


_GRAPH = (("host", _HOST), ("node_name", "copy_bitcast_fusion.54"), ("graph_width", "2"))
PICTURES = (
    Picture("overview", "overview_page", _CHART, ()),
    Picture("overview-dark", "overview_page", _CHART, (), theme="dark"),
    Picture("overview-narrow", "overview_page", _CHART, (), width=720),
    Picture("trace", "trace_viewer@", "iframe[src*=trace_viewer_index]", (("hosts", _HOST),)),
    Picture(
        "trace-dark",
        "trace_viewer@",
        "iframe[src*=trace_viewer_index]",
        (("hosts", _HOST),),
        theme="dark",
    ),
    Picture("input-pipeline", "input_pipeline_analyzer", _CHART, ()),
    Picture("framework-ops", "framework_op_stats", _TABLE, ()),
    Picture("op-profile", "op_profile", "op-table-entry"),
    Picture("hlo-stats", "hlo_stats", _TABLE),
    Picture("roofline", "roofline_model", _TABLE),
    Picture("memory-profile", "memory_profile", _CHART),
    Picture("memory-viewer", "memory_viewer", _CHART),
    Picture("graph", "graph_viewer", "iframe#graph-html", _GRAPH),
    Picture("about", "overview_page", _CHART, (), open_menu="#xh-about"),
)


@contextmanager
def demo(profiles: Path | None = None) -> Iterator[str]:
    """Starts the demo, with its own session or those of a log directory; gives its link."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(sys.executable).with_name("xprof-hub")
        process = subprocess.Popen(
            [program, "demo", *([profiles] if profiles else []), "--no-browser", "--port", "0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "XPROF_HUB_DATA_DIR": folder},
        )
        try:
            yield _link_in(process)
        finally:
            process.terminate()
            process.wait(timeout=30)


def _link_in(process: subprocess.Popen[str]) -> str:
    if process.stdout is None:
        raise RuntimeError("the demo's output is not read")
    for line in process.stdout:
        found = re.match(r"Open (http://\S+)", line)
        if found:
            return found[1]
    raise RuntimeError("the demo ended before it gave a link")


def take(browser: Browser, link: str, picture: Picture, folder: Path) -> Path:
    """Takes one picture; returns its file."""
    page = browser.new_page(
        viewport={"width": picture.width, "height": 900}, color_scheme=picture.theme
    )
    page.set_default_timeout(_WAIT)
    try:
        base = f"{link}/data/plugin/profile/"
        query = dict(picture.query)
        if picture.tool == "graph_viewer":
            query["module_name"] = _module(base, "jit_train_step")
        page.goto(f"{base}?{urlencode({'tag': picture.tool, **query})}")
        page.locator(picture.ready).first.wait_for()
        page.wait_for_load_state("networkidle")
        if "iframe" in picture.ready:
            _wait_for_frame(page)
        if picture.open_menu:
            page.locator(picture.open_menu).click()
        page.wait_for_timeout(1500)  # XProf's own movements: menus, ripples, the trace's first fit
        return _save(page.screenshot(), folder / f"{picture.name}.png")
    finally:
        page.close()


def _module(base: str, start: str) -> str:
    with urllib.request.urlopen(f"{base}module_list", timeout=60) as response:
        names: list[str] = response.read().decode().split(",")
    return next(name for name in names if name.startswith(start))


def _wait_for_frame(page: Page) -> None:
    for _ in range(300):
        if any(_has_content(frame) for frame in page.frames[1:]):
            return
        page.wait_for_timeout(200)
    raise RuntimeError("the frame stays empty")


def _has_content(frame: Frame) -> bool:
    if "trace_viewer" in frame.url:
        return bool(frame.evaluate(_HAS_EVENTS))
    return frame.locator("svg .node").count() > 0


def _save(png: bytes, path: Path) -> Path:
    """Writes a picture with a palette.

    Raises:
        RuntimeError: it is too large for a repository all the same.
    """
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    # Small areas of strong colour, as in a legend, must not be taken together with others.
    small = picture.quantize(
        256, method=Image.Quantize.MAXCOVERAGE, kmeans=3, dither=Image.Dither.NONE
    )
    small.save(path, optimize=True)
    size = path.stat().st_size
    if size > LARGEST_BYTES:
        raise RuntimeError(f"{path.name} has {size} bytes, more than {LARGEST_BYTES}")
    return path


def main() -> None:
    """Takes all pictures, or one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--only", help="name of one picture, or `pages` for those around the profiles"
    )
    parser.add_argument("--out", type=Path, default=FOLDER)
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    wanted = [picture for picture in PICTURES if chosen.only in {None, picture.name}]
    pages = [picture for picture in SITE_PICTURES if chosen.only in {None, picture.name, "pages"}]
    with sync_playwright() as playwright:
        chromium = os.environ.get("CHROMIUM", "/usr/bin/chromium")
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        if wanted:
            with demo() as link:
                for picture in wanted:
                    _tell(take(browser, link, picture, chosen.out))
        if pages:
            _take_pages(browser, pages, chosen.out)
        browser.close()


def _take_pages(browser: Browser, pages: list[SitePicture], folder: Path) -> None:
    with tempfile.TemporaryDirectory() as logs:
        write_sessions(Path(logs))
        with demo(Path(logs)) as link:
            hub = link.partition("/s/")[0]
            fill(hub, Path(logs))
            for page in pages:
                _tell(_save(shoot(browser, hub, page), folder / f"{page.name}.png"))


def _tell(path: Path) -> None:
    print(f"{path.name}  {path.stat().st_size:,} bytes", flush=True)


if __name__ == "__main__":
    main()
