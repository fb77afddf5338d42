"""Making runs and sessions of folders that were found. Every step may be done twice, by two at once.

What a person has deleted is not made again: the names of folders that were registered once are remembered
with the look at the run's folder, and a session whose name is there but not in the registry was deleted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from loader.catalog import SessionFiles
from server.discovery.finding import FoundSessions, is_folder, last_part, parent_of
from server.names import is_id
from server.registry import attempts, runs, sessions
from server.registry.database import Database
from server.registry.discovery import (
    WatchedRun,
    find_runs_by_ids,
    find_watched_run,
    known_sessions,
)
from server.registry.errors import RegistryError, RegistryProblem
from server.registry.looks import Look, LookKind, add_looks, looks_at_places
from server.registry.records import Json, RunState, SessionKind, SessionState
from server.sessions.captures import folder_time

SCANNER = "discovery"
"""Creator of what is found by itself."""
_NAMES, _LAYOUT = "names", "layout"
_ZONES = timedelta(hours=14)
"""How far a host's clock, which names a folder, may be from UTC."""


@dataclass(frozen=True)
class Maker:
    """Registers what is found.

    Attributes:
        database: the registry.
        fresh: how old the newest session of an adopted run may be for its job to count as running.
        creator: named as the maker of runs and sessions.
    """

    database: Database
    fresh: timedelta
    creator: str = SCANNER

    def add_sessions(
        self,
        run: WatchedRun,
        folders: Sequence[str],
        dismissed: Collection[str],
        now: datetime,
        *,
        with_deleted: bool = False,
    ) -> int:
        """Registers the folders that no session of the run has; how many were new.

        Args:
            run: whose they are.
            folders: addresses.
            dismissed: names of folders that were registered before.
            now: UTC.
            with_deleted: whether a folder counts as new whose session was deleted, and may come back.
        """
        unseen = [one for one in folders if last_part(one) not in dismissed]
        if not unseen:
            return 0
        known = known_sessions(self.database, run.uid)
        gone = frozenset() if with_deleted else known.deleted
        fresh = [one for one in unseen if one not in known.locations and one not in gone]
        if not fresh:
            return 0
        if run.state is RunState.LOST:
            attempts.set_state(self.database, run.id, RunState.ACTIVE, now=now)
        attempt = attempts.choose_attempt(self.database, run.id, None)
        return sum(self._add(run, one, known.ids, attempt, now) for one in fresh)

    def adopt(self, root: str, folder: str, found: FoundSessions, now: datetime) -> WatchedRun:
        """Makes a run of a folder that has sessions, or finds the one that was made of it before."""
        name = last_part(folder)
        for run_id in (name, _told_apart(name, folder)):
            if not is_id(run_id):
                continue
            try:
                # A run that doesn't have its folder's name is found by its look only.
                is_named = run_id == name and is_folder(root)
                values = _values(root if is_named else "", folder)
                made = runs.create_run(self.database, run_id, values, creator=self.creator, now=now)
            except RegistryError as error:
                if error.problem is not RegistryProblem.ALREADY_EXISTS:
                    raise
                there = find_runs_by_ids(self.database, [run_id]).get(run_id)
                # An id that tells folders apart says itself whose it is.
                if there is not None and (run_id != name or self._is_of(there, root, folder)):
                    return there
                continue
            if not self._is_fresh(found, now):
                attempts.set_state(self.database, run_id, RunState.COMPLETED, now=now)
            return self._reread(made.uid)
        raise RegistryError(
            RegistryProblem.ALREADY_EXISTS, f"No id is free for the folder {name!r}."
        )

    def run_of_folder(self, folder: str, roots: Collection[str]) -> WatchedRun | None:
        """The run whose folder this is: one that is looked at there, or that is named like it.

        Args:
            folder: its address.
            roots: where a run that says nowhere to write to is looked for by its id.
        """
        for look in looks_at_places(self.database, [folder]):
            watched = find_watched_run(self.database, look.subject)
            if look.kind is LookKind.RUN and watched is not None:
                return watched
        name, root = last_part(folder), parent_of(folder)
        run = find_runs_by_ids(self.database, [name]).get(name)
        if run is None or run.storage_root not in ({root, ""} if root in roots else {root}):
            return None
        return run

    def watch(self, run: WatchedRun, folder: str, found: FoundSessions, due: datetime) -> None:
        """Has a run's folder looked at from now on, knowing what is in it."""
        note = noted(found, ())
        add_looks(self.database, [Look(LookKind.RUN, run.uid, folder, due, note=note)])

    def _is_of(self, run: WatchedRun, root: str, folder: str) -> bool:
        """Whether a run of the folder's name is the folder's."""
        looks = looks_at_places(self.database, [folder])
        if any(look.kind is LookKind.RUN and look.subject == run.uid for look in looks):
            return True
        return last_part(folder) == run.id and run.storage_root in {"", root}

    def _add(
        self, run: WatchedRun, folder: str, ids: Collection[str], attempt: int | None, now: datetime
    ) -> bool:
        name = last_part(folder)
        for session_id in (name, _told_apart(name, folder)):
            if session_id in ids or not is_id(session_id):
                continue
            new = sessions.NewSession(
                id=session_id,
                locations=(folder,),
                display_name=session_id,
                kind=SessionKind.SCANNED,
                state=SessionState.OPEN,
                attempt=attempt,
            )
            try:
                sessions.create_session(self.database, run.id, new, creator=self.creator, now=now)
            except RegistryError as error:
                if error.problem is not RegistryProblem.ALREADY_EXISTS:
                    raise
                # Another front end was faster, with this folder or with another one of the same name.
                if folder in known_sessions(self.database, run.uid).locations:
                    return False
                continue
            return True
        return False

    def _is_fresh(self, found: FoundSessions, now: datetime) -> bool:
        times = [folder_time(SessionFiles((folder,), ())) for folder in found.folders]
        named = [time.replace(tzinfo=UTC) for time in times if time is not None]
        return bool(named) and now - max(named) <= self.fresh + _ZONES

    def _reread(self, uid: str) -> WatchedRun:
        run = find_watched_run(self.database, uid)
        if run is None:
            raise RegistryError(RegistryProblem.NOT_FOUND, "The run was deleted at once.")
        return run


def noted(found: FoundSessions, before: Collection[str]) -> dict[str, Json]:
    """What a look at a run's folder leaves for the next one."""
    names: list[Json] = list(sorted({*found.names, *before}))
    return {_NAMES: names, _LAYOUT: found.layout}


def names_in(note: Mapping[str, Json]) -> frozenset[str]:
    """The folders that were registered by earlier looks, after the note of the last one."""
    names = note.get(_NAMES)
    return frozenset(str(name) for name in names) if isinstance(names, list) else frozenset()


def layout_in(note: Mapping[str, Json]) -> str:
    """The layout that the run's folder has, as far as it is known."""
    return str(note.get(_LAYOUT) or "")


def _values(root: str, folder: str) -> runs.RunChanges:
    parent = parent_of(folder)
    group = last_part(parent) if parent.count("/") > 2 else ""
    label = folder if len(folder) <= 500 else ""
    return runs.RunChanges(
        display_name=last_part(folder),
        run_set=group,
        labels={"folder": label} if label else {},
        storage_root=root,
    )


def _told_apart(name: str, folder: str) -> str:
    """An id for a folder whose name is taken, or can't be an id; always the same one."""
    mark = hashlib.sha256(folder.encode()).hexdigest()[:8]
    text = name if is_id(name) and len(name.encode()) < 150 else "folder"
    return f"{text}-{mark}"
