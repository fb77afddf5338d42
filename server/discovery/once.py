"""One pass of discovery, for a scheduled job where front ends can't look all the time.

Needs no turn: every look may be done twice, by two at once, so that a pass is right beside front ends that
look and beside another pass. Converts nothing in advance: that takes workers and time, which a job may not
have.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime

from prometheus_client import CollectorRegistry

from loader.storage.roots import open_storage
from server.discovery.looking import CURSOR, DiscoveryRules, Looked, Looker
from server.discovery.registering import Maker
from server.discovery.scanner import MOST_LOOKS, enlist_fixed, is_in_trouble
from server.discovery.service import discovery_rules
from server.metrics.discovery import DiscoveryMetrics
from server.registry.database import Database
from server.registry.looks import (
    Look,
    LookKind,
    amend_note,
    due_looks,
    enlist_runs_and_sessions,
    hasten,
)
from server.settings import Settings

_AT_ONCE = 8


@dataclass
class ScanReport:
    """What a pass found.

    Attributes:
        counts: `looks` that were made, `runs` that were made of folders, `sessions` that were registered, and
            `complete` ones, of which no more hosts are awaited.
        problems: which roots could not be read, and why.
    """

    counts: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)


class Pass:
    """Looks at every root, and at all else that is due.

    Args:
        database: the registry.
        looker: looks.
        rules: which roots there are.
    """

    def __init__(self, database: Database, looker: Looker, rules: DiscoveryRules) -> None:
        self._database = database
        self._looker = looker
        self._rules = rules

    def run(self, now: datetime) -> ScanReport:
        """One pass, over what is due at this moment (UTC).

        Raises:
            sqlalchemy.exc.SQLAlchemyError: the registry does not answer; what was found stays.
        """
        report = ScanReport()
        self._begin_roots(now)
        with ThreadPoolExecutor(_AT_ONCE) as threads:
            while looks := self._due(now):
                looked = list(threads.map(lambda look: self._looker.look(look, now), looks))
                _count(report, looks, looked)
                if is_in_trouble(looked):
                    report.problems.append(
                        "Storage failed at most of what it was asked; the next scan looks at the rest."
                    )
                    break
        return report

    def _begin_roots(self, now: datetime) -> None:
        """Has every root read from its first folder on, whenever and how far somebody has looked at it."""
        enlist_fixed(self._database, self._rules.roots, now)
        for root in self._rules.roots:
            amend_note(self._database, LookKind.ROOT, root, lambda _note: {CURSOR: ""})
            hasten(self._database, LookKind.ROOT, root, now)

    def _due(self, now: datetime) -> tuple[Look, ...]:
        enlist_runs_and_sessions(self._database, now)
        return due_looks(self._database, now, MOST_LOOKS)


def scan_once(settings: Settings) -> ScanReport:
    """One pass with the settings of an installation.

    Raises:
        RegistryUnusableError, sqlalchemy.exc.SQLAlchemyError: the database can't be used.
        LoaderError: a storage root can't be used.
    """
    settings = settings.with_local_uploads()
    database = Database(settings.resolved_database_url, settings.database_connections)
    try:
        database.make_ready(may_migrate=settings.migrate)
        rules = discovery_rules(settings)
        storage = open_storage(settings.readable_roots)
        maker = Maker(database, rules.silence)
        metrics = DiscoveryMetrics(CollectorRegistry())
        looker = Looker(database, storage, rules, maker, metrics)
        return Pass(database, looker, rules).run(datetime.now(UTC))
    finally:
        database.close()


def _count(report: ScanReport, looks: Sequence[Look], looked: Sequence[Looked]) -> None:
    for look, found in zip(looks, looked, strict=True):
        report.counts["looks"] += 1
        report.counts["runs"] += found.new_runs
        report.counts["sessions"] += found.new_sessions
        report.counts["complete"] += found.completed is not None
        if look.kind is LookKind.ROOT and found.failure is not None:
            report.problems.append(f"{look.subject} could not be read: {found.failure.message}")
