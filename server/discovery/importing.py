"""Taking a folder of old profiles in, a page at a time: the caller walks the pages and may stop at any.

A page is one listing of the folder and one of each run's folder in it, so its cost is known before. Nothing
is kept between pages but what was registered: the position travels with the caller, and a page taken twice
registers nothing twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from loader.catalog import PROFILE_FOLDER
from loader.storage.base import Storage
from server.discovery.finding import FoundSessions, last_part, parent_of, sessions_of_folder
from server.discovery.registering import Maker
from server.discovery.schedule import Pace
from server.names import is_id
from server.registry.discovery import WatchedRun, known_sessions

_LISTINGS_AT_ONCE = 8
_OWN_FOLDERS = frozenset({"plugins", "tensorboard"})
"""Where one of these is, the folder may be a run's own one, not one of runs' folders."""


class ImportOutcome(StrEnum):
    """What became of a folder."""

    NEW = "NEW"
    """It becomes a run."""
    KNOWN = "KNOWN"
    """It is a run already."""


@dataclass(frozen=True)
class ImportedRun:
    """A folder with sessions.

    Attributes:
        folder: its address.
        run: id of the run; for a dry run, the one that it would most likely get.
        outcome: whether it was a run before.
        sessions: how many there are.
        new_sessions: how many of them were not registered.
    """

    folder: str
    run: str
    outcome: ImportOutcome
    sessions: int
    new_sessions: int


@dataclass(frozen=True)
class ImportPage:
    """One page.

    Attributes:
        runs: the folders with sessions.
        looked: how many folders were looked into.
        next: where the next page begins; empty after the last.
    """

    runs: tuple[ImportedRun, ...]
    looked: int
    next: str


@dataclass(frozen=True)
class Importer:
    """Takes folders in.

    Attributes:
        storage: where they are.
        maker: registers them in the name of whoever asked.
        pace: when they are looked at next.
    """

    storage: Storage
    maker: Maker
    pace: Pace

    def take_page(
        self, root: str, after: str, most: int, *, is_dry: bool, now: datetime
    ) -> ImportPage:
        """Takes in the next folders of a root, or one run's folder as a whole.

        Args:
            root: a folder, without a slash at the end.
            after: `next` of the page before; empty for the first.
            most: entries of the folder in this page.
            is_dry: whether to say only what would become of them.
            now: UTC.

        Raises:
            LoaderError: a folder can't be listed; what was registered before stays.
        """
        page = self.storage.list_folder_page(root, after, most)
        folders = [folder.rstrip("/") for folder in page.folders]
        following = page.next
        found = self._own(root, folders)
        if found:
            folders = [one for one in folders if last_part(one) not in _OWN_FOLDERS]
        if any(sessions.layout == PROFILE_FOLDER for sessions in found.values()):
            # Certainly a run's: what lies beside its sessions are checkpoints.
            folders, following = [], ""
        with ThreadPoolExecutor(_LISTINGS_AT_ONCE, "import") as pool:
            each = pool.map(lambda one: sessions_of_folder(self.storage, one), folders)
            found.update(zip(folders, each, strict=True))
        take = self._foretell if is_dry else self._take
        taken = tuple(take(one, here, now) for one, here in found.items() if here.folders)
        return ImportPage(taken, len(found), following)

    def _own(self, root: str, folders: Sequence[str]) -> dict[str, FoundSessions]:
        """The sessions of the root itself, if it is a run's folder."""
        if all(last_part(folder) not in _OWN_FOLDERS for folder in folders):
            return {}
        here = sessions_of_folder(self.storage, root)
        return {root: here} if here.folders else {}

    def _take(self, folder: str, found: FoundSessions, now: datetime) -> ImportedRun:
        root = parent_of(folder)
        run = self.maker.run_of_folder(folder, ())
        outcome = ImportOutcome.NEW if run is None else ImportOutcome.KNOWN
        if run is None:
            run = self.maker.adopt(root, folder, found, now)
        # Who asks for an import wants what was deleted before, too.
        count = self.maker.add_sessions(run, found.folders, (), now, with_deleted=True)
        self.maker.watch(run, folder, found, now + self.pace.run(run.state, 0))
        return ImportedRun(folder, run.id, outcome, len(found.folders), count)

    def _foretell(self, folder: str, found: FoundSessions, _now: datetime) -> ImportedRun:
        run = self.maker.run_of_folder(folder, ())
        name = last_part(folder)
        if run is None:
            would_be = name if is_id(name) else "folder"
            total = len(found.folders)
            return ImportedRun(folder, would_be, ImportOutcome.NEW, total, total)
        fresh = _unknown(self.maker, run, found.folders)
        return ImportedRun(folder, run.id, ImportOutcome.KNOWN, len(found.folders), fresh)


def _unknown(maker: Maker, run: WatchedRun, folders: Sequence[str]) -> int:
    known = known_sessions(maker.database, run.uid).locations
    return sum(folder not in known for folder in folders)
