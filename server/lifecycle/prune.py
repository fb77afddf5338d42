"""Deletes what is due: first from the registry, then what was made of it, then profiles where that is set.

May be cut off at any moment, and run by two at once: every step looks for what is left to do, and does it in
the order in which nothing half deleted is ever shown. A step that fails is told in the report, and the others
go on; the next time finishes it.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar

from loader.caches.forgetting import Forgets
from loader.errors import LoaderError
from loader.keys import session_mark
from loader.storage.address import shown
from server.audit.log import AuditLog, hub_event
from server.lifecycle.aliases import real_places
from server.lifecycle.due import is_due
from server.lifecycle.originals import Originals
from server.names import run_name, session_name
from server.registry import old_rows, purging
from server.registry.database import Database
from server.registry.keeping import find_perhaps_due, keeping_of
from server.registry.purging import Gone, Leftover
from server.registry.records import ProfilerSession
from server.registry.sessions import find_session_by_uid

BY = "prune"
"""Named as who deletes what is over."""
_AT_ONCE = 200
KEPT = timedelta(days=1)
"""How long operations and repeatable requests are kept at least."""
T = TypeVar("T")
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class PruneRules:
    """How long things are kept.

    Attributes:
        grace: how long what was deleted may come back.
        audit: how long events of the audit log are kept.
    """

    grace: timedelta
    audit: timedelta


@dataclass(frozen=True)
class Places:
    """What is in storage of sessions that are gone.

    Attributes:
        stores: of answers and of artifact sets.
        originals: the profiles, or None where they are never deleted.
    """

    stores: Sequence[Forgets]
    originals: Originals | None = None


@dataclass
class PruneReport:
    """What was done, or with a dry run would be.

    Attributes:
        counts: how many of each kind.
        expired: resource names of the sessions whose time is over.
        problems: what could not be done, in words; the next time tries again.
    """

    counts: Counter[str] = field(default_factory=Counter)
    expired: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


class Pruner:
    """Does one pass; not safe to share between threads.

    Args:
        database: the registry.
        places: what is in storage.
        rules: how long things are kept.
        keep_on: called between steps; whether to go on, which it may use to prolong a lease.
        is_dry: whether only to count.
    """

    def __init__(
        self,
        database: Database,
        places: Places,
        rules: PruneRules,
        keep_on: Callable[[], bool] = lambda: True,
        *,
        is_dry: bool = False,
    ) -> None:
        self._database = database
        self._places = places
        self._rules = rules
        self._keep_on = keep_on
        self._is_dry = is_dry
        self._audit = AuditLog(database)

    def run(self, now: datetime) -> PruneReport:
        """One pass over everything.

        Raises:
            sqlalchemy.exc.SQLAlchemyError: the registry does not answer; what was done stays done.
        """
        report = PruneReport()
        self._expire(report, now)
        self._purge_runs(report, now)
        self._purge_sessions(report, now)
        self._clear(report)
        self._forget_rows(report, now)
        return report

    def _expire(self, report: PruneReport, now: datetime) -> None:
        """Deletes sessions whose time is over; they may come back for the grace."""
        find = partial(find_perhaps_due, self._database, now)
        for _, uid in self._pages(find, lambda pair: pair[0]):
            if self._is_dry:
                due = self._due_session(uid, now)
                if due is not None:
                    report.counts["expired_sessions"] += 1
                    report.expired.append(session_name(due.run, due.id))
                continue
            gone = purging.expire_session(
                self._database, uid, lambda keeping: is_due(keeping, now), now=now, by=BY
            )
            if gone is not None:
                report.counts["expired_sessions"] += 1
                report.expired.append(session_name(gone.run, gone.session))
                self._note("delete", gone)

    def _due_session(self, uid: str, now: datetime) -> ProfilerSession | None:
        keeping = keeping_of(self._database, [uid]).get(uid)
        is_over = keeping is not None and is_due(keeping, now)
        return find_session_by_uid(self._database, uid) if is_over else None

    def _purge_runs(self, report: PruneReport, now: datetime) -> None:
        before = now - self._rules.grace
        find = partial(purging.find_purgeable_runs, self._database, before)
        for key in self._pages(find, int):
            if self._is_dry:
                report.counts["runs"] += 1
                continue
            gone = purging.purge_run(self._database, key, before, now)
            report.counts["runs"] += gone is not None
            self._note("purge", gone)

    def _purge_sessions(self, report: PruneReport, now: datetime) -> None:
        before = now - self._rules.grace
        find = partial(purging.find_purgeable_sessions, self._database, before)
        for key in self._pages(find, int):
            if self._is_dry:
                report.counts["sessions"] += 1
                continue
            gone = purging.purge_session(self._database, key, before)
            report.counts["sessions"] += gone is not None
            self._note("purge", gone)

    def _clear(self, report: PruneReport) -> None:
        """Sees to the files of sessions that are gone for good."""
        after = 0
        while leftovers := purging.list_leftovers(self._database, after, _AT_ONCE):
            after = leftovers[-1].key
            if self._is_dry:
                report.counts["leftovers"] += len(leftovers)
                continue
            if self._forget_made(report, leftovers):
                linked = self._linked_places(leftovers)
                for leftover in leftovers:
                    self._clear_one(report, leftover, linked)
            if not self._keep_on():
                return

    def _forget_made(self, report: PruneReport, leftovers: Sequence[Leftover]) -> bool:
        """Removes answers and artifacts, unless they are another session's too; whether all went well."""
        marks = {
            session_mark(one.locations)
            for one in leftovers
            if not purging.is_made_for_others(self._database, one.locations)
        }
        try:
            for store in self._places.stores if marks else ():
                report.counts["stored_things"] += store.forget(marks)
        except LoaderError as error:
            _tell(report, error)
            return False
        return True

    def _linked_places(self, leftovers: Sequence[Leftover]) -> frozenset[str]:
        """Where sessions lie that are reached by a link, if any profile may be removed from this disk."""
        is_local = any(place.startswith("/") for one in leftovers for place in one.locations)
        if self._places.originals is None or not is_local:
            return frozenset()
        return real_places(purging.local_locations(self._database))

    def _clear_one(self, report: PruneReport, leftover: Leftover, linked: Collection[str]) -> None:
        """Removes the profiles, if that is set and they are nobody else's, and then the note."""
        originals = self._places.originals
        try:
            if originals is not None:
                for location in leftover.locations:
                    self._remove_profiles(report, originals, location, linked)
        except LoaderError as error:
            _tell(report, error)
            return
        purging.remove_leftover(self._database, leftover.key)
        report.counts["leftovers"] += 1

    def _remove_profiles(
        self, report: PruneReport, originals: Originals, location: str, linked: Collection[str]
    ) -> None:
        """Removes a place's profiles, unless they are another session's, or outside the roots by now.

        Raises:
            LoaderError: they could not be removed, and may be the next time.
        """
        if any(purging.overlap(location, place) for place in linked):
            return
        if purging.are_files_of_others(self._database, [location]):
            return
        if not originals.covers(location):
            # Not a problem that another pass could solve: whoever narrowed the roots keeps what is outside.
            report.counts["places_outside"] += 1
            logger.warning("profiles are kept that lie outside the roots: %s", shown(location))
            return
        report.counts["profiles"] += originals.remove(location)

    def _forget_rows(self, report: PruneReport, now: datetime) -> None:
        """Removes rows that are kept for a time only."""
        limits = old_rows.Limits(now=now, short=now - KEPT, audit=now - self._rules.audit)
        count = old_rows.count_old if self._is_dry else old_rows.forget_all_old
        report.counts.update(count(self._database, limits))

    def _pages(
        self, find: Callable[[int, int], Sequence[T]], key_of: Callable[[T], int]
    ) -> Iterator[T]:
        """What a query finds, page by page, for as long as there is reason to go on."""
        after = 0
        while self._keep_on() and (found := find(after, _AT_ONCE)):
            yield from found
            after = key_of(found[-1])

    def _note(self, verb: str, gone: Gone | None) -> None:
        if gone is None:
            return
        is_session = bool(gone.session)
        name = session_name(gone.run, gone.session) if is_session else run_name(gone.run)
        action = "sessions.write" if is_session else "runs.write"
        self._audit.write(hub_event(BY, action, verb, name, {"uid": gone.uid}))


def _tell(report: PruneReport, error: LoaderError) -> None:
    if error.message not in report.problems:
        report.problems.append(error.message)
    logger.warning("something is left to prune: %s", error.message)
