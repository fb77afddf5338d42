"""The sessions of a load test: many, cheap to make, each with answers of its own.

Each is a folder of hard links to one of a few made sessions: every folder has its own keys, whatever its
files hold. All links are made before the first session is attached, because a new one would change the time
of the files' last change, which is part of every key. What a job attaches later is a copy.
"""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.visits import class_of
from server.client import HubClient
from server.demo.session import HOST_PREFIX, write_session
from server.links.schemas import NewLink
from server.schemas import Run, Session

SESSIONS_OF_RUN = 20
FIRST_HOST = f"{HOST_PREFIX}0"
"""The host whose trace is looked at."""


@dataclass(frozen=True)
class SessionClass:
    """Sessions of one size.

    Attributes:
        name: in words.
        share: of all sessions, 0 to 1.
        hosts: of each.
        events: of each host.
        made: how many different ones are written; the others link to these.
    """

    name: str
    share: float
    hosts: int
    events: int
    made: int


CLASSES = (
    SessionClass("1 host, 1 MB", 0.75, 1, 1_000, 6),
    SessionClass("2 hosts, 3 MB", 0.20, 2, 4_000, 4),
    SessionClass("4 hosts, 8 MB", 0.05, 4, 20_000, 2),
)
"""Small ones: the machine of the test has few cores, and shall convert many a minute."""


@dataclass(frozen=True)
class Shared:
    """A session with a link.

    Attributes:
        path: of the link, `/s/xph_…`.
        session: its id.
        size: number of its class in `CLASSES`.
    """

    path: str
    session: str
    size: int


def size_of(session: int) -> int:
    """Number of a session's class in `CLASSES`."""
    return class_of(session, [each.share for each in CLASSES])


def run_of(session: int) -> str:
    """Id of the run that a session is attached to."""
    return f"run-{session // SESSIONS_OF_RUN:03}"


def folder_of(root: Path, session: int) -> Path:
    """Where a session lies, as JAX leaves it."""
    return root / run_of(session) / "plugins" / "profile" / f"session-{session:04}"


def make_templates(folder: Path) -> list[list[Path]]:
    """Writes the sessions that the others link to; returns their folders, class by class."""
    made = []
    for size, each in enumerate(CLASSES):
        folders = [folder / f"{size}-{number}" for number in range(each.made)]
        for number, place in enumerate(folders):
            write_session(place, hosts=each.hosts, events=each.events, seed=100 * size + number)
        made.append(folders)
    return made


def link_sessions(root: Path, templates: Sequence[Sequence[Path]], count: int) -> None:
    """Makes so many sessions below `root`."""
    for session in range(count):
        chosen = templates[size_of(session)]
        folder = folder_of(root, session)
        folder.mkdir(parents=True)
        for path in chosen[session % len(chosen)].iterdir():
            os.link(path, folder / path.name)


def copy_session(template: Path, folder: Path) -> None:
    """What a job leaves in a new folder, all at once."""
    draft = folder.with_name(f".{folder.name}")
    shutil.copytree(template, draft)
    draft.rename(folder)


def share_sessions(url: str, root: Path, count: int, seed: int) -> list[Shared]:
    """Attaches all sessions over the API and makes a link to each; in the order of how often they are opened.

    That order is by chance, so that the often opened ones are of all classes and runs.
    """
    shared = []
    with HubClient(url) as client:
        for session in range(count):
            run, name = run_of(session), f"session-{session:04}"
            if session % SESSIONS_OF_RUN == 0:
                client.runs.create(Run(display_name=f"Run {run}"), run)
            place = str(folder_of(root, session))
            client.sessions.attach(run, Session(storage_folder_uri=place), name)
            uri = client.links.create(run, name, NewLink()).uri
            shared.append(Shared(uri[uri.index("/s/") :], name, size_of(session)))
    random.Random(seed).shuffle(shared)
    return shared
