"""A front end and a worker as two processes on one machine, which share their data directory."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.services.cluster import PROFILE_PATH, SECRET, get
from tests.services.hub import HubFactory, HubProcess, copy_of, share


@dataclass(frozen=True)
class Pair:
    """The two processes.

    Attributes:
        root: the only storage root.
        env: the settings that both share, for more of either kind.
    """

    front: HubProcess
    worker: HubProcess
    root: Path
    env: dict[str, str]

    def share(self, session: Path, name: str) -> str:
        """Address of XProf under a link to a copy of the session, in a run of this name."""
        folder = copy_of(session, self.root / name)
        return share(self.front.url, name, "s", folder) + PROFILE_PATH


def start_pair(hubs: HubFactory, folder: Path, **settings: str) -> Pair:
    """Starts both, with these settings besides the needed ones."""
    root = folder / "profiles"
    root.mkdir()
    env = {
        "XPROF_HUB_STORAGE_ROOTS": str(root),
        "XPROF_HUB_DATA_DIR": str(folder / "shared-data"),
        "XPROF_HUB_SECRET_KEY": SECRET,
        **settings,
    }
    worker = hubs.start(env, only="worker")
    env = {**env, "XPROF_HUB_WORKERS": worker.url}
    return Pair(hubs.start(env, only="front"), worker, root, env)


def lookups(front: HubProcess) -> dict[str, int]:
    """How often finished answers were found, missed or unchanged, by that word."""
    text = get(f"{front.url}/metrics").body.decode()
    found = re.findall(r'^xprof_hub_results_total\{outcome="(\w+)"\} ([\d.]+)$', text, re.M)
    return {outcome: int(float(count)) for outcome, count in found}


def until(ready: Callable[[], bool], seconds: float = 100) -> None:
    """Waits until something is so; fails when it takes too long."""
    end = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.1)
