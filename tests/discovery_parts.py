"""A store in memory that counts what it is asked, and discovery on top of it, for tests."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from pathlib import Path

from prometheus_client import CollectorRegistry

from loader.errors import ErrorCode, LoaderError
from loader.storage.base import PAGE_ENTRIES, FolderPage, StoredFile, ignore
from server.discovery.looking import Completed, DiscoveryRules, Looker
from server.discovery.notices import Notices
from server.discovery.registering import Maker
from server.discovery.scanner import Scanner
from server.discovery.schedule import Pace
from server.metrics.discovery import DiscoveryMetrics
from server.registry.database import Database

ROOT = "gs://bucket/team"


class CountingStore:
    """Objects by address, listed as a bucket lists them: by prefix and delimiter, 1,000 entries an answer.

    Attributes:
        calls: every answer that was given, by the folder that was listed.
        trouble: asked first about each listing; what it raises is what the caller gets.
    """

    def __init__(self, addresses: Iterable[str] = ()) -> None:
        self.calls: list[str] = []
        self.trouble: Callable[[str], None] = lambda _location: None
        self._lock = threading.Lock()
        self._files: dict[str, tuple[int, float | None]] = {}
        self._sorted: list[str] | None = None
        for address in addresses:
            self.put(address)

    def put(self, address: str, size: int = 1, modified: float | None = None) -> None:
        """Writes an object."""
        self._files[address] = (size, modified)
        self._sorted = None

    def list_files(self, location: str) -> list[StoredFile]:
        base = location.rstrip("/") + "/"
        return [self._stored(base + name) for name in self._entries(base) if name[-1] != "/"]

    def list_folders(self, location: str) -> list[str]:
        base = location.rstrip("/") + "/"
        return [base + name[:-1] for name in self._entries(base) if name[-1] == "/"]

    def list_folder_page(
        self, location: str, after: str = "", most: int = PAGE_ENTRIES
    ) -> FolderPage:
        base = location.rstrip("/") + "/"
        left = [name for name in self._entries(base, pages=False) if name > after]
        page = left[:most]
        folders = tuple(base + name[:-1] for name in page if name[-1] == "/")
        return FolderPage(folders, page[-1] if len(left) > most else "")

    def download(
        self, file: StoredFile, destination: Path, wrote: Callable[[int], None] = ignore
    ) -> None:
        raise AssertionError("discovery reads no file")

    def read_part(self, file: StoredFile, start: int, length: int) -> bytes:
        raise AssertionError("discovery reads no file")

    def _entries(self, base: str, pages: bool = True) -> list[str]:
        """Names directly below a folder; one call for each thousand of them."""
        with self._lock:
            if self._sorted is None:
                self._sorted = sorted(self._files)
            ordered = self._sorted
        self.trouble(base)
        names: dict[str, None] = {}
        position = bisect_left(ordered, base)
        while position < len(ordered) and ordered[position].startswith(base):
            head, slash, _ = ordered[position][len(base) :].partition("/")
            names[head + slash] = None
            # What lies below a folder is jumped over, as a bucket does.
            position = bisect_left(ordered, f"{base}{head}0") if slash else position + 1
        count = max(1, -(-len(names) // PAGE_ENTRIES)) if pages else 1
        with self._lock:
            self.calls += [base.rstrip("/")] * count
        return list(names)

    def _stored(self, address: str) -> StoredFile:
        size, modified = self._files[address]
        name = address.rpartition("/")[2]
        return StoredFile(address, name, size, f"{size}-{modified}", modified)


def unavailable(_location: str) -> None:
    """Trouble that passes."""
    raise LoaderError(ErrorCode.STORAGE_UNAVAILABLE, "The bucket answered 503.")


class Clock:
    """A time that stands still until a test moves it."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **parts: float) -> None:
        self.now += timedelta(**parts)


class Parts:
    """Discovery without an application around it.

    Attributes:
        completed: sessions in the order in which they became complete.
    """

    def __init__(
        self,
        database: Database,
        store: CountingStore,
        clock: Clock,
        *,
        adopts: bool = True,
        roots: tuple[str, ...] = (ROOT,),
        silence: timedelta = timedelta(hours=72),
    ) -> None:
        self.database, self.store, self.clock = database, store, clock
        self.completed: list[Completed] = []
        self.metrics = DiscoveryMetrics(CollectorRegistry())
        self.rules = DiscoveryRules(roots, adopts, Pace(timedelta(seconds=60)), silence)
        self.maker = Maker(database, silence)
        self.looker = Looker(database, store, self.rules, self.maker, self.metrics)
        self.notices = Notices(self.rules, self.maker, self.metrics)
        self.scanner = self.new_scanner()

    def new_scanner(self) -> Scanner:
        """A scanner as another front end would have it."""

        async def note(completed: Completed) -> None:
            self.completed.append(completed)

        return Scanner(self.database, self.looker, self.rules, note, self.clock)

    async def until_quiet(self, scanner: Scanner | None = None) -> None:
        """Ticks until nothing is due at this moment."""
        scanner = scanner or self.scanner
        while True:
            before = len(self.store.calls)
            self.completed += await scanner.tick()
            if len(self.store.calls) == before:
                return


def profile(run: str, session: str, host: str = "h0", root: str = ROOT) -> str:
    """Address of a host's file as JAX writes it."""
    return f"{root}/{run}/plugins/profile/{session}/{host}.xplane.pb"
