"""Damaged profiles through every tool of a real worker; `make fuzz` runs the same for longer."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from tests.hostile.fuzz.message import Field, parse, serialize
from tests.hostile.fuzz.mutations import mutate
from tests.hostile.fuzz.run import cases, fuzz
from tests.hostile.fuzz.seeds import real_profile, seeds

SECONDS = float(os.environ.get("FUZZ_SECONDS", "10"))
SEED = int(os.environ.get("FUZZ_SEED", "2"))


@pytest.mark.timeout(SECONDS + 180)
def test_no_damaged_profile_harms_the_worker(tmp_path: Path) -> None:
    summary = fuzz(SECONDS, SEED, keep=tmp_path)
    print(summary.text())
    assert not summary.findings, summary.text()
    # Neither all refused at the door nor all let through.
    assert summary.outcomes["ok"] > 0
    assert len(summary.outcomes) > 2


def test_a_profile_taken_apart_is_put_together_again() -> None:
    for seed in seeds():
        whole = serialize(parse(seed))
        assert seed.startswith(whole)
    assert serialize(parse(real_profile())) == real_profile()


def test_lies_are_written_as_told() -> None:
    assert serialize([Field(1, 2, b"ab", claimed=5)]) == b"\x0a\x05ab"
    assert serialize([Field(1, 2, b"ab", tag_kind=0)]) == b"\x08\x02ab"


def test_the_same_seed_makes_the_same_profiles() -> None:
    first, second = cases(7), cases(7)
    assert [next(first) for _ in range(5)] == [next(second) for _ in range(5)]
    other = mutate(random.Random("8-0"), seeds())
    assert next(cases(7))[1] != other
