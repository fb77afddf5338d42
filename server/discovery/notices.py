"""A bucket's word that an object is there: the session is registered at once, and looked at next.

Asks storage for nothing, so a thousand notices of one capture cost a thousand small look-ups and one listing.
A notice may come twice, late, out of order, or never: the scan finds the same things.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from server.discovery.finding import (
    FoundSessions,
    ProfilePlace,
    last_part,
    parent_of,
    place_of_profile,
)
from server.discovery.looking import DISMISSED, DiscoveryRules
from server.discovery.registering import Maker, layout_in, names_in, noted
from server.metrics.discovery import DiscoveryMetrics
from server.registry.discovery import WatchedRun, find_deleted_runs, session_at
from server.registry.errors import RegistryError
from server.registry.looks import (
    LookKind,
    amend_note,
    find_look,
    hasten,
    looks_at_places,
)
from server.registry.records import Json

_NO_NAMES: Collection[str] = ()
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Notices:
    """Takes notices in.

    Attributes:
        rules: which roots there are, and whether folders there become runs.
        maker: registers what is told.
        metrics: counts.
    """

    rules: DiscoveryRules
    maker: Maker
    metrics: DiscoveryMetrics

    def take(self, location: str, now: datetime) -> bool:
        """Takes in that a file is there; whether it belongs to a run of ours.

        Raises:
            sqlalchemy.exc.SQLAlchemyError: the registry does not answer; the notice must come again.
        """
        place = place_of_profile(location)
        try:
            is_ours = place is not None and self._take(place, now)
        except RegistryError as error:
            # The run or session went away in this moment: the same notice would find the same.
            logger.info("a notice came to nothing: %s", error.message)
            is_ours = False
        self.metrics.notified("taken" if is_ours else "ignored")
        return is_ours

    def _take(self, place: ProfilePlace, now: datetime) -> bool:
        run = self._run_of(place, now)
        if run is not None:
            self._register(run, place, now)
        return run is not None

    def _run_of(self, place: ProfilePlace, now: datetime) -> WatchedRun | None:
        run = self.maker.run_of_folder(place.run_folder, self.rules.roots)
        root = parent_of(place.run_folder)
        if run is not None or not self.rules.adopts or root not in self.rules.roots:
            return run
        there = looks_at_places(self.maker.database, [place.run_folder])
        if any(look.kind is LookKind.RUN or look.note.get(DISMISSED) for look in there):
            return None  # somebody deleted the run
        name = last_part(place.run_folder)
        deleted = find_deleted_runs(self.maker.database, [name]).get(name)
        if deleted is not None and deleted.storage_root in {"", root}:
            # So that it is known, too, when the run is gone for good.
            self.maker.watch(deleted, place.run_folder, FoundSessions("", ()), now)
            return None
        found = FoundSessions("", (place.session_folder,))
        adopted = self.maker.adopt(root, place.run_folder, found, now)
        self.maker.watch(adopted, place.run_folder, FoundSessions("", ()), now)
        self.metrics.found("run")
        return adopted

    def _register(self, run: WatchedRun, place: ProfilePlace, now: datetime) -> None:
        database, folder = self.maker.database, place.session_folder
        uid = session_at(database, run.uid, folder)
        if uid is not None:
            hasten(database, LookKind.SESSION, uid, now)
            return
        look = find_look(database, LookKind.RUN, run.uid)
        before = _NO_NAMES if look is None else names_in(look.note)
        count = self.maker.add_sessions(run, (folder,), before, now)
        self.metrics.found("session", count)
        if count:
            # Whoever deletes the session before the next look at the run's folder has deleted it, too.
            amend_note(database, LookKind.RUN, run.uid, partial(_with_folder, folder))


def _with_folder(folder: str, note: Mapping[str, Json]) -> Mapping[str, Json]:
    return noted(FoundSessions(layout_in(note), (folder,)), names_in(note))
