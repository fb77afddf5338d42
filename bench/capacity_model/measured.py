"""What was measured to compare the model with: single requests, and loads of many people.

The numbers lie in `measured.json`, written by `python -m bench.load --costs --record` and
`python -m bench.load --record`. The model is given the single requests only, and never what a load showed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).with_name("measured.json")


@dataclass(frozen=True)
class SizeCosts:
    """Processor seconds of a worker for the sessions of one size.

    Attributes:
        name: of the size.
        share: of all sessions, 0 to 1.
        overview: list of tools and overview, from the profile.
        trace: first window, from the profile.
        tool: another tool, from the artifact; the mean of all.
        zoom: another window, from the artifact.
    """

    name: str
    share: float
    overview: float
    trace: float
    tool: float
    zoom: float


@dataclass(frozen=True)
class SingleCosts:
    """What single requests cost.

    Attributes:
        sizes: of sessions.
        page: processor seconds of the front end for XProf's page.
        file: for a static file.
        small: for a small answer that it makes itself.
        data: for an answer from the cache.
        relayed: for one that a worker makes, besides the worker's.
        load: of the load's own process, for any request.
        first_files: static files that a new browser gets with the first page, later ones none.
    """

    sizes: tuple[SizeCosts, ...]
    page: float
    file: float
    small: float
    data: float
    relayed: float
    load: float
    first_files: int


@dataclass(frozen=True)
class MeasuredLoad:
    """What one load showed.

    Attributes:
        workers: at work.
        people: at once.
        seconds: that it lasted.
        pause: mean seconds between two clicks.
        job_seconds: between two new sessions.
        sessions: that there were.
        cores: of the machine.
        others: cores that other programs used of it meanwhile.
        openings: a second.
        requests: a second.
        first_page: seconds until the first page, at percentiles 50, 95 and 99.
        kept: share of answers that were in the cache.
        busy: cores that front end, workers and load used together.
    """

    workers: int
    people: int
    seconds: float
    pause: float
    job_seconds: float
    sessions: int
    cores: int
    others: float
    openings: float
    requests: float
    first_page: tuple[float, float, float]
    kept: float
    busy: float


@dataclass(frozen=True)
class Measured:
    """Everything in the file.

    Attributes:
        costs_on: day and machine of the single requests.
        loads_on: the same of the loads.
        costs: of single requests.
        loads: with more and more workers.
    """

    costs_on: str
    loads_on: str
    costs: SingleCosts
    loads: tuple[MeasuredLoad, ...]


def read_measured(path: Path = FILE) -> Measured:
    """Reads the file."""
    found = json.loads(path.read_text())
    costs = found["costs"]
    sizes = tuple(SizeCosts(**size) for size in costs["sizes"])
    loads = (
        MeasuredLoad(**{**load, "first_page": tuple(load["first_page"])}) for load in found["loads"]
    )
    return Measured(
        found["costs_on"], found["loads_on"], SingleCosts(**{**costs, "sizes": sizes}), tuple(loads)
    )


def record(parts: Mapping[str, object], path: Path = FILE) -> None:
    """Replaces some of the parts of the file by plain data."""
    known = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps({**known, **parts}, indent=2) + "\n")
