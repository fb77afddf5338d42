"""What all loads of one bench share: made sessions, and a registry in which they are attached and shared.

Each load gets a fleet of its own that begins cold: a copy of the registry, empty caches, an empty Redis.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.load_test.fleet import REGISTRY, Fleet, Limits
from bench.load_test.plan import Plan
from bench.load_test.sessions import (
    Shared,
    folder_of,
    link_sessions,
    make_templates,
    run_of,
    share_sessions,
)

_FRESH = "fresh"


@dataclass
class Stage:
    """A folder with sessions and a registry.

    Attributes:
        folder: that everything lies in.
        links: to all sessions, the most opened first.
        templates: folders of small sessions that a job leaves copies of.
    """

    folder: Path
    links: list[Shared]
    templates: tuple[str, ...]

    @classmethod
    def build(cls, folder: Path, sessions: int, seed: int) -> Stage:
        """Makes the sessions, attaches them and makes the links, over the API of a front end."""
        templates = make_templates(folder / "templates")
        link_sessions(folder / "sessions", templates, sessions)
        fleet = Fleet(folder / _FRESH, folder / "sessions", addresses=1, converts_ahead=False)
        try:
            fleet.start(workers=0)
            links = share_sessions(fleet.url, folder / "sessions", sessions, seed)
        finally:
            fleet.stop()
        return cls(folder, links, tuple(map(str, templates[0])))

    @contextmanager
    def fleet(
        self, name: str, workers: int, addresses: int | None = None, limits: Limits | None = None
    ) -> Iterator[Fleet]:
        """A cold fleet that knows the sessions, as long as the context lasts.

        Args:
            name: of its folder.
            workers: that run at the begin.
            addresses: of workers that there may be at most; as many as run unless given.
            limits: of what it keeps.
        """
        fleet = Fleet(
            self.folder / name,
            self.folder / "sessions",
            addresses or workers,
            limits=limits or Limits(),
        )
        for path in (self.folder / _FRESH).glob(f"{REGISTRY}*"):
            if path.suffix != ".lock":
                shutil.copyfile(path, fleet.folder / path.name)
        try:
            fleet.start(workers)
            yield fleet
        finally:
            fleet.stop()

    def plan(
        self, seconds: float, people: int, seed: int, pause: float, job_seconds: float
    ) -> Plan:
        """A plan with all links, and a job that attaches to the first run."""
        place = folder_of(self.folder / "sessions", 0).parent
        return Plan(
            "",
            self.links,
            seconds,
            people,
            seed,
            pause,
            job_seconds,
            run_of(0),
            str(place),
            self.templates,
        )
