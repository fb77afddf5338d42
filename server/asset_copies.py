"""Making the small copies of static files: by `xprof-hub compress-assets`, or beside a server without them.

Compressors and the font's subset run in threads of a process of their own, so that serving never waits for
them. A lock in the directory keeps two processes from doing the same work.
"""

from __future__ import annotations

import fcntl
import logging
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from server.fleet.local_worker import environment_for_child
from server.machine.cores import usable_cores
from server.settings import Settings
from server.ui.assets import Assets, load_assets
from server.ui.copies import Kept
from server.ui.icon_font import IconFontError
from server.ui.xprof_files import find_xprof_static

_LOWEST_PRIORITY = 19
_LOCK = ".lock"
logger = logging.getLogger(__name__)


def make_copies(settings: Settings) -> str:
    """Makes what is missing and says in a sentence what that was; waits for another process that is at it.

    Raises:
        XprofNotInstalledError: XProf's files are not there.
        OSError: the directory can't be written.
    """
    folder = settings.resolved_asset_cache
    start = time.monotonic()
    with _only_one(folder):
        missing = _load(settings).missing()
        with ThreadPoolExecutor(usable_cores()) as threads:
            sizes = list(threads.map(_make, missing))
    if not missing:
        return f"All static files have their small copies in {folder} already."
    before = sum(copy.source_bytes for _, copy in missing)
    return (
        f"Made {len(missing)} small copies of static files in {time.monotonic() - start:.0f} s: "
        f"{before / 1e6:.1f} MB became {sum(sizes) / 1e6:.1f} MB, in {folder}."
    )


def take_lowest_priority() -> None:
    """Lets everybody else on the machine go first, for the rest of this process."""
    os.nice(_LOWEST_PRIORITY)


@contextmanager
def copies_in_background(settings: Settings, assets: Assets) -> Iterator[None]:
    """Has missing copies made by a process of lowest priority, which ends with the block at the latest."""
    if not assets.missing() or not _may_write(settings.resolved_asset_cache):
        yield
        return
    process = subprocess.Popen(
        [sys.executable, "-m", "server.cli", "compress-assets", "--gently"],
        env=environment_for_child(settings),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield
    finally:
        # Half a copy is never seen, so there is nothing to end in order.
        process.kill()
        process.wait()


def _load(settings: Settings) -> Assets:
    return load_assets(find_xprof_static(), settings.resolved_asset_cache, settings.path_prefix)


def _may_write(folder: Path) -> bool:
    """Whether copies can be left there, which must be made first if it is not there."""
    while not folder.exists():
        folder = folder.parent
    return os.access(folder, os.W_OK)


@contextmanager
def _only_one(folder: Path) -> Iterator[None]:
    """Holds the directory's lock, which the system takes back from a process that ends."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / _LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _make(entry: tuple[str, Kept]) -> int:
    """Makes one copy and gives its size; a font that can't be made smaller stays as it is."""
    name, copy = entry
    try:
        return copy.write()
    except IconFontError as problem:
        logger.warning("%s is served as it is: %s", name, problem)
        return copy.source_bytes
