"""Discovery's parts, put together from the settings: the only place that knows all of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import anyio.to_thread

from auth.push_tokens import PushVerifier
from auth.signed_tokens import PublishedKeys
from loader.storage.address import is_gcs
from loader.storage.base import Storage
from server.discovery.completion import expected_hosts, newest_change
from server.discovery.counted import CountedStorage
from server.discovery.importing import Importer
from server.discovery.looking import Completed, DiscoveryRules, Looker
from server.discovery.notices import Notices
from server.discovery.registering import Maker
from server.discovery.scanner import Scanner
from server.discovery.schedule import Pace
from server.http.published import PublishedDocument
from server.metrics.discovery import DiscoveryMetrics
from server.registry.database import Database
from server.registry.discovery import open_sessions_of
from server.registry.looks import (
    Look,
    LookKind,
    add_looks,
    enlist_runs_and_sessions,
    find_look,
    hasten,
)
from server.registry.prewarm import PrewarmState, change_prewarm
from server.registry.records import Run
from server.settings import Settings
from server.xprof.prewarm import Prewarmer

_MOST_LOOKED_AT = 50
_OLD = timedelta(days=1)
"""A session whose files are older belongs to an archive, which nobody opens as a whole: not converted."""


@dataclass(frozen=True)
class RunScan:
    """What a look at a run's folder found.

    Attributes:
        new: sessions that were not registered before.
        still_open: sessions whose hosts may still come; the scanner looks at them next.
    """

    new: int
    still_open: int


@dataclass(frozen=True)
class Discovery:
    """What the front end's routes and its life cycle use.

    Attributes:
        looker: looks at one thing at once.
        scanner: looks all the time.
        notices: takes a bucket's notifications in.
        verifier: tells who sends them; None when none are expected.
    """

    database: Database
    storage: Storage
    rules: DiscoveryRules
    looker: Looker
    scanner: Scanner
    notices: Notices
    verifier: PushVerifier | None

    def scan_run(self, run: Run, now: datetime) -> RunScan | None:
        """Looks for a run's sessions, and at those whose hosts may still come; None: it is unknown where.

        Raises:
            LoaderError: the run's folder can't be listed.
        """
        look = find_look(self.database, LookKind.RUN, run.uid)
        if look is None and run.storage_root:
            folder = f"{run.storage_root.rstrip('/')}/{run.id}"
            add_looks(self.database, [Look(LookKind.RUN, run.uid, folder, now)])
            look = find_look(self.database, LookKind.RUN, run.uid)
        if look is None:
            return None
        found = self.looker.look(look, now)
        if found.failure is not None:
            raise found.failure
        enlist_runs_and_sessions(self.database, now)
        waiting = open_sessions_of(self.database, run.uid, _MOST_LOOKED_AT)
        looks = [find_look(self.database, LookKind.SESSION, uid) for uid in waiting]
        for one in looks:
            if one is not None:
                # The scanner is left to find it complete, for it converts in advance.
                hasten(self.database, one.kind, one.subject, now)
        return RunScan(found.new_sessions, len(waiting))

    def importer(self, creator: str) -> Importer:
        """Takes folders in, in the name of a person."""
        maker = replace(self.notices.maker, creator=creator)
        return Importer(self.storage, maker, self.rules.pace)


def build_discovery(
    settings: Settings,
    database: Database,
    storage: Storage,
    prewarmer: Prewarmer,
    metrics: DiscoveryMetrics,
) -> Discovery:
    """Puts discovery together; nothing runs yet."""
    rules = discovery_rules(settings)
    counted = CountedStorage(storage, metrics.listed)
    maker = Maker(database, rules.silence)
    looker = Looker(database, counted, rules, maker, metrics)
    scanner = Scanner(database, looker, rules, _Prewarming(database, prewarmer).begin)
    notices = Notices(rules, maker, metrics)
    return Discovery(database, counted, rules, looker, scanner, notices, _verifier(settings))


def discovery_rules(settings: Settings) -> DiscoveryRules:
    """What discovery may do in this installation."""
    shortest = timedelta(seconds=settings.scan_seconds or 60)
    roots = tuple(_folder(root) for root in settings.scan_roots)
    silence = timedelta(hours=settings.run_silence_hours)
    return DiscoveryRules(roots, settings.auto_register, Pace(shortest), silence)


@dataclass(frozen=True)
class _Prewarming:
    """Begins the conversion in advance of sessions that are complete."""

    database: Database
    prewarmer: Prewarmer

    async def begin(self, completed: Completed) -> None:
        session, files = completed.session, completed.files
        newest = newest_change(files.hosts)
        is_new = newest is None or datetime.now(UTC) - newest < _OLD
        state = self.prewarmer.first_state(files, expected_hosts(session), is_wanted=is_new)
        if await anyio.to_thread.run_sync(
            change_prewarm, self.database, session.uid, state, {PrewarmState.NONE}
        ):
            self.prewarmer.start(replace(session, prewarm=state.value), files)


def _folder(root: str) -> str:
    """A root as storage names its folders."""
    place = root if is_gcs(root) else str(Path(root).expanduser().absolute())
    return place.rstrip("/")


def _verifier(settings: Settings) -> PushVerifier | None:
    if not settings.pubsub_audience:
        return None
    keys = PublishedKeys(PublishedDocument(settings.pubsub_keys_url).fetch)
    return PushVerifier(settings.pubsub_audience, settings.pubsub_account, keys)
