"""A bucket's word that an object is there: the session is registered at once, and looked at next.

Asks storage for nothing, so a thousand notices of one capture cost a thousand small look-ups and one listing.
A notice may come twice, late, out of order, or never: the scan finds the same things.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime

from server.discovery.finding import FoundSessions, ProfilePlace, parent_of, place_of_profile
from server.discovery.looking import DISMISSED, DiscoveryRules
from server.discovery.registering import Maker, layout_in, names_in, noted
from server.discovery_metrics import DiscoveryMetrics
from server.registry.discovery import WatchedRun, session_at
from server.registry.looks import (
    LookKind,
    find_look,
    hasten,
    looks_at_places,
    save_look,
)

_NO_NAMES: Collection[str] = ()


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
        run = None if place is None else self._run_of(place, now)
        if place is None or run is None:
            self.metrics.notified("ignored")
            return False
        self._register(run, place, now)
        self.metrics.notified("taken")
        return True

    def _run_of(self, place: ProfilePlace, now: datetime) -> WatchedRun | None:
        run = self.maker.run_of_folder(place.run_folder, self.rules.roots)
        root = parent_of(place.run_folder)
        if run is not None or not self.rules.adopts or root not in self.rules.roots:
            return run
        there = looks_at_places(self.maker.database, [place.run_folder])
        if any(look.kind is LookKind.RUN or look.note.get(DISMISSED) for look in there):
            return None  # somebody deleted the run
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
        before = _NO_NAMES if look is None else names_in(look)
        count = self.maker.add_sessions(run, (folder,), before, now)
        self.metrics.found("session", count)
        if count and look is not None:
            # Whoever deletes the session before the next look at the run's folder has deleted it, too.
            note = noted(FoundSessions(layout_in(look), (folder,)), before)
            save_look(database, replace(look, note={**look.note, **note}))
