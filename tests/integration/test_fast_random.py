"""Random profiles: whatever xprof-rs is let answer, it answers like XProf."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from loader.engine.base import Job, Limits, Program
from loader.engine.compare import first_difference
from loader.engine.rs import serves
from loader.engine.xprof import XprofEngine
from loader.errors import ErrorCode, LoaderError
from loader.intake.inspect import inspect_profile
from tests.services.engine import MakeJob
from tests.services.random_profiles import allocator_profile, device_profile

LIMITS = Limits(seconds=30, memory_bytes=2 << 30, output_bytes=1 << 30)
PROFILES = 60


def answer(engine: XprofEngine, job: Job, program: Program) -> bytes | None:
    try:
        return engine.convert(replace(job, program=program), LIMITS).output.read_bytes()
    except LoaderError as problem:
        assert program is Program.RS
        assert problem.code is ErrorCode.ENGINE_REFUSED
        return None


@pytest.mark.parametrize(
    ("tool", "profile"),
    [("hlo_stats", device_profile), ("memory_profile", allocator_profile)],
)
def test_what_is_answered_is_xprofs_answer(
    both: XprofEngine,
    make_job: MakeJob,
    tmp_path: Path,
    tool: str,
    profile: Callable[[int], bytes],
) -> None:
    path = tmp_path / "h.xplane.pb"
    answered = 0
    for seed in range(PROFILES):
        path.write_bytes(profile(seed))
        found = inspect_profile(path)
        job: Job = replace(make_job(tool, path), is_plain=found.is_plain)
        if not serves(job) or (fast := answer(both, job, Program.RS)) is None:
            continue
        xprof = answer(both, make_job(tool, path), Program.XPROF)
        assert xprof is not None
        assert first_difference(tool, fast, xprof) is None, f"seed {seed}"
        answered += 1
    assert PROFILES // 5 < answered < PROFILES, "neither all nor none are odd"
