"""Bytes in job directories that count like downloads, while the directory is there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from loader.errors import ErrorCode, LoaderError
from loader.intake.scratch import Scratch
from tests.scratch_parts import CountingStorage, Sources, kept, open_descriptors


@pytest.fixture
def make(tmp_path: Path) -> Sources:
    return Sources(tmp_path / "source")


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[Scratch]:
    """A scratch of 1,000 bytes."""
    scratch = Scratch(tmp_path / "scratch", 1000, CountingStorage())
    yield scratch
    scratch.close()


def test_what_is_held_makes_unused_files_go(
    scratch: Scratch, make: Sources, tmp_path: Path
) -> None:
    for name in "ab":
        with scratch.fetch([make(name, 400)]):
            pass
    with scratch.job_directory() as job:
        scratch.hold(job, 300)
        assert kept(tmp_path / "scratch") == 400
        scratch.hold(job, 500)
        assert kept(tmp_path / "scratch") == 0


def test_what_is_held_counts_for_others_until_the_directory_is_gone(
    scratch: Scratch, make: Sources
) -> None:
    with scratch.job_directory() as job:
        scratch.hold(job, 300)
        scratch.hold(job, 300)
        with pytest.raises(LoaderError) as caught, scratch.fetch([make("a", 500)]):
            pass
        assert caught.value.code is ErrorCode.BUSY
        with scratch.job_directory() as other, pytest.raises(LoaderError) as caught:
            scratch.hold(other, 500)
        assert caught.value.code is ErrorCode.BUSY
        with scratch.fetch([make("a", 400)]):
            pass
    with scratch.fetch([make("a", 1000)]):
        pass


def test_what_can_never_fit_is_too_large_and_counts_for_nothing(
    scratch: Scratch, make: Sources
) -> None:
    with scratch.job_directory() as job:
        scratch.hold(job, 500)
        with pytest.raises(LoaderError, match=r"more than the 1000 bytes of disk") as caught:
            scratch.hold(job, 501)
        assert caught.value.code is ErrorCode.TOO_LARGE
        with scratch.fetch([make("a", 500)]):
            pass


def test_holding_costs_one_open_file_and_none_afterwards(scratch: Scratch) -> None:
    before = open_descriptors()
    with scratch.job_directory() as job:
        inside = len(open_descriptors())
        for _ in range(20):
            scratch.hold(job, 10)
        assert len(open_descriptors()) == inside + 1
    assert open_descriptors() == before
