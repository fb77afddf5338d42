"""What the load's process is told, and what it tells: plain data that both processes read."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

from bench.load_test.sessions import FIRST_HOST, Shared
from bench.visits import Habits

PEOPLE = Habits(new_people=0.2, trace=0.6, tool=0.5, zooms=2, windows=50, tools=6)
"""As the capacity model has them, but for the tools: the made sessions have six."""

TOOLS = (
    "op_profile",
    "input_pipeline_analyzer",
    "memory_profile",
    "roofline_model",
    "framework_op_stats",
    "hlo_stats",
)
PROFILE_PATH = "/data/plugin/profile/"
ALL_HOSTS = "ALL_HOSTS"
_OF_ONE_HOST = frozenset({"memory_profile"})


def hosts_of(tool: str) -> str:
    """The hosts for which people look at a tool."""
    return FIRST_HOST if tool in _OF_ONE_HOST else ALL_HOSTS


class Outcome(StrEnum):
    """What whoever asked saw."""

    OK = "ok"
    LATER = "later"
    """Told to come later; a page does so by itself."""
    FAILED = "failed"
    """An error that a person sees."""


@dataclass(frozen=True)
class Sample:
    """One request.

    Attributes:
        kind: of request, in words.
        began: seconds since the load began.
        first: seconds to the first byte of the answer.
        whole: seconds to the last.
        size: bytes of the body as sent.
        outcome: what came of it.
        note: what went wrong.
    """

    kind: str
    began: float
    first: float
    whole: float
    size: int
    outcome: Outcome
    note: str = ""


@dataclass(frozen=True)
class Plan:
    """What shall be asked.

    Attributes:
        url: address of the front end.
        links: the most opened first.
        seconds: how long.
        people: at once.
        seed: the same gives the same choices.
        pause: mean seconds that somebody looks at something before the next click.
        job_seconds: between two new sessions; 0: no job.
        job_run: run that the job attaches to.
        job_folder: where it leaves profiles.
        templates: folders whose copies it leaves.
        crowd_seconds: if not 0, each of the people opens the first link once, within so many seconds.
    """

    url: str
    links: list[Shared]
    seconds: float
    people: int
    seed: int
    pause: float
    job_seconds: float = 0.0
    job_run: str = "run-000"
    job_folder: str = ""
    templates: tuple[str, ...] = ()
    crowd_seconds: float = 0.0

    def write(self, path: Path) -> None:
        """Writes it as JSON; it holds links, so nobody else may read it."""
        path.touch(mode=0o600)
        path.write_text(json.dumps(asdict(self)))

    @classmethod
    def read(cls, path: Path) -> Plan:
        """Reads it."""
        found = json.loads(path.read_text())
        found["links"] = [Shared(**link) for link in found["links"]]
        found["templates"] = tuple(found["templates"])
        return cls(**found)


@dataclass(frozen=True)
class Told:
    """What the load's process tells.

    Attributes:
        cpu: seconds of processor time that it took to ask, without its start.
        samples: every request.
    """

    cpu: float
    samples: list[Sample]

    def write(self, path: Path) -> None:
        """Writes it as JSON."""
        path.write_text(json.dumps(asdict(self)))

    @classmethod
    def read(cls, path: Path) -> Told:
        """Reads it."""
        found = json.loads(path.read_text())
        samples = [
            Sample(**{**sample, "outcome": Outcome(sample["outcome"])})
            for sample in found["samples"]
        ]
        return cls(found["cpu"], samples)
