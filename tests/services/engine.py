"""An XProf engine for tests, and job directories for it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from loader.engine.base import Job, OptionValue
from loader.engine.xprof import XprofEngine

MakeJob = Callable[..., Job]
CORPUS = Path(__file__).parents[1] / "hostile" / "corpus"


@pytest.fixture(scope="session")
def engine() -> Iterator[XprofEngine]:
    """One engine for all tests that don't end it."""
    engine = XprofEngine()
    yield engine
    engine.close()


@pytest.fixture
def make_job(tmp_path: Path) -> MakeJob:
    """Makes a job over copies of profiles: `make_job(tool, *profiles, **options)`."""
    count = 0

    def make(tool: str, *profiles: Path, as_csv: bool = False, **options: OptionValue) -> Job:
        nonlocal count
        count += 1
        directory = tmp_path / f"job{count}"
        directory.mkdir(mode=0o700)
        for profile in profiles:
            shutil.copy(profile, directory)
        hosts = tuple(sorted(path.name.removesuffix(".xplane.pb") for path in profiles))
        return Job(directory, hosts, tool, options, as_csv=as_csv)

    return make
