"""One look at one thing: what is asked of storage, what is made of the answer, and when to look again.

No loop and no lease; `scanner` decides what is looked at and by whom. Each look asks for one listing, seldom
two, and leaves its result in the registry, so that whoever looks next goes on from there.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from sqlalchemy.exc import SQLAlchemyError

from loader.catalog import SessionFiles, digest_of, list_session
from loader.errors import ErrorCode, LoaderError
from loader.storage.base import PAGE_ENTRIES, Storage
from server.discovery.completion import is_complete
from server.discovery.finding import last_part, sessions_of_folder
from server.discovery.registering import Maker, layout_in, names_in, noted
from server.discovery.schedule import Pace, after_failures
from server.metrics.discovery import DiscoveryMetrics
from server.registry import looks as registry_looks
from server.registry import runs
from server.registry.attempts import close_silent
from server.registry.database import Database
from server.registry.discovery import (
    WatchedRun,
    find_deleted_runs,
    find_runs_by_ids,
    find_watched_run,
    may_come_back,
    reopen_lost,
)
from server.registry.errors import RegistryError
from server.registry.looks import Look, LookKind
from server.registry.records import Json, ProfilerSession, SessionState
from server.registry.session_changes import complete_session, note_look
from server.registry.sessions import find_session_by_uid

CURSOR = "cursor"
"""In the note of a root: behind which of its folders the next page begins; empty: with the first."""
DISMISSED = "dismissed"
"""In the note of a folder whose run somebody deleted."""
_SILENCE_EVERY = timedelta(minutes=1)
_NO_NEWS = frozenset({ErrorCode.STORAGE_UNAVAILABLE, ErrorCode.INTERNAL})
"""Failures that a run's owner can do nothing about."""
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class DiscoveryRules:
    """What discovery may do.

    Attributes:
        roots: folders of runs' folders that are scanned, without a slash at the end.
        adopts: whether folders there that are no run become one.
        pace: how often is looked.
        silence: after which an active run whose job says nothing is closed.
    """

    roots: tuple[str, ...]
    adopts: bool
    pace: Pace
    silence: timedelta


@dataclass(frozen=True)
class Completed:
    """A session that is complete since now."""

    session: ProfilerSession
    files: SessionFiles


@dataclass(frozen=True)
class Looked:
    """What came of a look.

    Attributes:
        is_new: whether anything was found that was not known.
        new_runs: how many folders became runs.
        new_sessions: how many sessions were registered.
        completed: the session that is complete since.
        failure: why nothing could be seen.
    """

    is_new: bool = False
    new_runs: int = 0
    new_sessions: int = 0
    completed: Completed | None = None
    failure: LoaderError | None = None


class Looker:
    """Looks at one thing at a time; may be used from several threads.

    Args:
        database: the registry.
        storage: where folders are.
        rules: what may be done.
        maker: registers what is found.
        metrics: counts.
    """

    def __init__(
        self,
        database: Database,
        storage: Storage,
        rules: DiscoveryRules,
        maker: Maker,
        metrics: DiscoveryMetrics,
    ) -> None:
        self._database = database
        self._storage = storage
        self._rules = rules
        self._maker = maker
        self._metrics = metrics
        self._by_kind: Mapping[LookKind, Callable[[Look, datetime], Looked]] = {
            LookKind.ROOT: self._root,
            LookKind.FOLDER: self._folder,
            LookKind.RUN: self._run,
            LookKind.SESSION: self._session,
            LookKind.SILENCE: self._silence,
        }

    def look(self, look: Look, now: datetime) -> Looked:
        """Looks, keeps what it saw, and says what came of it.

        Raises:
            sqlalchemy.exc.SQLAlchemyError: the registry does not answer; nothing is lost by looking again.
        """
        try:
            looked = self._by_kind[look.kind](look, now)
        except LoaderError as error:
            looked = self._fail(look, error, now)
        except RegistryError as error:
            # The run or session went away while it was looked at: the next look sees that it is gone.
            logger.info("a look found less than before: %s", error.message)
            self._again(look, now, self._rules.pace.shortest)
            looked = Looked()
        except SQLAlchemyError:
            raise
        except Exception:  # one folder that nobody foresaw must not stop the looks at all others
            logger.exception("a look at a %s failed", look.kind.value.lower())
            looked = self._fail(look, LoaderError(ErrorCode.INTERNAL, "The look failed."), now)
        outcome = "failed" if looked.failure else "new" if looked.is_new else "unchanged"
        self._metrics.looked(look.kind.value, outcome)
        return looked

    def _root(self, look: Look, now: datetime) -> Looked:
        """One page of the folders in a root."""
        after = str(look.note.get(CURSOR) or "")
        page = self._storage.list_folder_page(look.subject, after, PAGE_ENTRIES)
        added = self._enlist(look.subject, [one.rstrip("/") for one in page.folders], now)
        pause = timedelta(0) if page.next else self._rules.pace.shortest
        if not page.next:
            self._metrics.finished_pass(now)
        note = _joined(look, {CURSOR: page.next})
        kept = replace(look, looked=now, failures=0, note=note, due=now + pause)
        registry_looks.save_look(self._database, kept)
        return Looked(is_new=added > 0)

    def _enlist(self, root: str, folders: list[str], now: datetime) -> int:
        """Has the folders looked at that are runs, or may become some; how many had not been known."""
        names = {last_part(folder): folder for folder in folders}
        # A look at a deleted run's folder rests; without one it would be taken for nobody's.
        known = {
            **find_deleted_runs(self._database, list(names)),
            **find_runs_by_ids(self._database, list(names)),
        }
        seen = registry_looks.looks_at_places(self._database, folders)
        places, watched = {look.place for look in seen}, {look.subject for look in seen}
        new = []
        for name, folder in names.items():
            run = known.get(name)
            if run is not None and run.storage_root in {"", root}:
                if run.uid not in watched:
                    new.append(Look(LookKind.RUN, run.uid, folder, now))
            elif self._rules.adopts and folder not in places:
                new.append(Look(LookKind.FOLDER, folder, folder, now))
        return registry_looks.add_looks(self._database, new) if new else 0

    def _folder(self, look: Look, now: datetime) -> Looked:
        """A folder that is no run: it becomes one if it has sessions."""
        if not self._rules.adopts or look.note.get(DISMISSED):
            registry_looks.save_look(self._database, replace(look, due=None))
            return Looked()
        found = sessions_of_folder(self._storage, look.place)
        if not found.folders:
            self._again(look, now, self._rules.pace.stranger(look.unchanged))
            return Looked()
        root = look.place.rpartition("/")[0]
        run = self._maker.adopt(root, look.place, found, now)
        self._metrics.found("run")
        # Only now the folder's look goes: whoever is cut off before comes here again, and finds the same run.
        count = self._maker.add_sessions(run, found.folders, (), now)
        self._metrics.found("session", count)
        self._maker.watch(run, look.place, found, now + self._rules.pace.run(run.state, 0))
        registry_looks.remove_look(self._database, look.key)
        return Looked(is_new=True, new_runs=1, new_sessions=count)

    def _run(self, look: Look, now: datetime) -> Looked:
        """A run's folder: the sessions in it that are not known are registered."""
        run = find_watched_run(self._database, look.subject)
        if run is None:
            self._dismiss(look, now)
            return Looked()
        look = _moved(look, run)
        found = sessions_of_folder(self._storage, look.place, layout_in(look.note))
        before = names_in(look.note)
        count = self._maker.add_sessions(run, found.folders, before, now)
        self._metrics.found("session", count)
        unchanged = 0 if count else look.unchanged + 1
        due = now + self._rules.pace.run(run.state, look.unchanged if not count else 0)
        kept = replace(look, looked=now, unchanged=unchanged, failures=0, due=due)
        registry_looks.save_look(
            self._database, replace(kept, note=_joined(look, noted(found, before)))
        )
        return Looked(is_new=count > 0, new_sessions=count)

    def _dismiss(self, look: Look, now: datetime) -> None:
        """A run that somebody deleted is not adopted again; its folder is remembered for that.

        While it may come back its look rests, with all that it knows; what ends that makes it due.
        """
        if may_come_back(self._database, look.subject):
            registry_looks.save_look(self._database, replace(look, looked=now, due=None))
            return
        gone = replace(look, kind=LookKind.FOLDER, subject=look.place, due=None)
        # In this order: whoever lists the root meanwhile must not take the folder for an unknown one.
        registry_looks.add_looks(self._database, [replace(gone, note={DISMISSED: True})])
        registry_looks.remove_look(self._database, look.key)

    def _session(self, look: Look, now: datetime) -> Looked:
        """An open session's folder: what it holds is noted, and the session closed when it is complete."""
        record = find_session_by_uid(self._database, look.subject)
        if record is None or record.state is SessionState.COMPLETE:
            registry_looks.remove_look(self._database, look.key)
            return Looked()
        files = self._files(record)
        digest = digest_of(files.hosts) if files.hosts else ""
        after = note_look(self._database, record.uid, digest, now=now)
        if after is None:
            registry_looks.remove_look(self._database, look.key)
            return Looked()
        if is_complete(after, files.hosts, now) and complete_session(
            self._database, record.uid, digest, now=now
        ):
            registry_looks.remove_look(self._database, look.key)
            self._metrics.found("complete")
            return Looked(is_new=True, completed=Completed(after, files))
        is_new = record.seen_digest != digest
        unchanged = 0 if is_new else look.unchanged + 1
        pause = self._rules.pace.session(not files.hosts, look.unchanged)
        kept = replace(look, looked=now, unchanged=unchanged, failures=0, due=now + pause)
        registry_looks.save_look(self._database, kept)
        return Looked(is_new=is_new)

    def _files(self, session: ProfilerSession) -> SessionFiles:
        """A session's files; none is no failure."""
        try:
            return list_session(self._storage, session.locations)
        except LoaderError as error:
            if error.code is ErrorCode.NOT_FOUND:
                return SessionFiles(session.locations, ())
            raise

    def _silence(self, look: Look, now: datetime) -> Looked:
        """Closes runs whose jobs are silent, and opens those again that are not any more."""
        reopened = reopen_lost(self._database, now)
        lost = close_silent(self._database, now - self._rules.silence, now=now)
        hours = self._rules.silence.total_seconds() / 3600
        for run_id in lost:
            sentence = (
                f"Closed on {now:%Y-%m-%d %H:%M} UTC: for {hours:g} hours nothing was heard of this job, "
                "and no new session was found. It is opened again when either happens."
            )
            try:
                runs.add_warning(self._database, run_id, sentence, now=now)
            except RegistryError as error:
                logger.info("a lost run was deleted: %s", error.message)
        longest = self._rules.pace.longest_active
        registry_looks.hasten_active_runs(self._database, now + longest, now)
        self._metrics.found("lost", len(lost))
        self._metrics.found("reopened", len(reopened))
        self._again(look, now, _SILENCE_EVERY)
        return Looked(is_new=bool(lost or reopened))

    def _again(self, look: Look, now: datetime, pause: timedelta) -> None:
        kept = replace(look, looked=now, unchanged=look.unchanged + 1, failures=0, due=now + pause)
        registry_looks.save_look(self._database, kept)

    def _fail(self, look: Look, error: LoaderError, now: datetime) -> Looked:
        """Comes back later, each time a while longer; a run says why it can't be looked at."""
        failures = look.failures + 1
        kept = replace(look, looked=now, failures=failures, due=now + after_failures(failures))
        registry_looks.save_look(self._database, kept)
        if look.kind is LookKind.RUN and error.code not in _NO_NEWS:
            self._warn(look.subject, error, now)
        if look.kind is LookKind.ROOT or failures == 1:
            logger.warning("a look at a %s failed: %s", look.kind.value.lower(), error.message)
        return Looked(failure=error)

    def _warn(self, uid: str, error: LoaderError, now: datetime) -> None:
        run = find_watched_run(self._database, uid)
        if run is not None:
            sentence = f"Sessions of this run are not looked for: {error.message}"
            runs.add_warning(self._database, run.id, sentence, now=now)


def _moved(look: Look, run: WatchedRun) -> Look:
    """The look at where the run's folder is now; what was registered elsewhere says nothing about it."""
    place = f"{run.storage_root}/{run.id}" if run.storage_root else look.place
    return look if place == look.place else replace(look, place=place, unchanged=0, note={})


def _joined(look: Look, note: Mapping[str, Json]) -> dict[str, Json]:
    """A look's note with new values; the registry counts in it, too."""
    return {**look.note, **note}
