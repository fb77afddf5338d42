"""XProf lists the same tools, and finds the same modules, in profiles without timelines as in whole ones."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from loader.engine.base import Job, Limits
from loader.engine.xprof import XprofEngine
from loader.errors import LoaderError
from loader.inspection.wire import Walker, WireError
from loader.intake.door import take_in
from loader.intake.profiles import Intake
from loader.intake.timelines import without_timelines
from loader.storage.base import StoredFile
from server.demo.session import write_session
from tests.services.engine import CORPUS
from tests.services.gpu_session import write_gpu_profile
from tests.services.memory_session import write_memory_profile
from tests.services.random_profiles import allocator_profile, device_profile
from tests.wire_bytes import (
    block,
    event_metadata,
    hlo_stat,
    line,
    metadata_plane,
    number,
    plane,
    stat_metadata,
)

LIMITS = Limits(seconds=60, memory_bytes=4 << 30, output_bytes=1 << 30)
JAX = Path(__file__).parents[1] / "data" / "jax_cpu" / "jax-cpu.xplane.pb.gz"
Found = tuple[list[str], dict[str, bytes]]
"""Tools, and modules with what is in them."""


def counted(*events: bytes) -> bytes:
    """A TPU's plane that names values of counters, with these events on it."""
    named = stat_metadata(1, "counter_value") + event_metadata(1, "FLOPS")
    return plane("/device:TPU:0", line("counters", b"".join(events)) + named)


COUNTER = block(4, number(1, 1) + number(2, 10) + block(4, number(1, 1) + number(3, 7)))
UNCOUNTED = block(4, number(1, 1) + number(2, 10) + number(3, 5))
HLO = metadata_plane(event_metadata(1, "jit_step(7)", stats=hlo_stat(b"jit_step")))
MEGASCALE = plane("/host:CPU", line("thread", UNCOUNTED) + event_metadata(1, "MegaScale: send"))
KINDS = {
    "counters": [counted(COUNTER)],
    "counters that no event has": [counted(UNCOUNTED)],
    "counters of the second host": [MEGASCALE, counted(COUNTER)],
    "modules": [HLO + MEGASCALE],
    "modules of the second host": [counted(UNCOUNTED), HLO],
    "modules without any": [metadata_plane(event_metadata(1, "jit_step(7)"))],
    "slices": [MEGASCALE],
    "slices of a device": [
        plane("/device:TPU:0", line("x", UNCOUNTED) + event_metadata(1, "MegaScale:"))
    ],
    "a number after a line": [plane("/host:CPU", line("x", UNCOUNTED) + number(1, 1 << 40)) + HLO],
}
"""Everything that XProf's list depends on, there and not there, in the first host and in another."""


def listed(engine: XprofEngine, directory: Path, hosts: list[bytes], how: Intake) -> Found | str:
    """What XProf lists of these hosts as they are taken in, or how it fails."""
    directory.mkdir(mode=0o700)
    names = []
    for index, data in enumerate(hosts):
        name = f"h{index:02}"
        stored = StoredFile(f"/s/{name}", f"{name}.xplane.pb", len(data), "1")
        original = directory.parent / f"{directory.name}-{name}"
        original.write_bytes(data)
        how(original, stored, directory / stored.name)
        names.append(name)
    try:
        tools = engine.convert(Job(directory, tuple(names), "run_tools", {}), LIMITS)
    except LoaderError as problem:
        return f"{problem.code}: {problem.message}"
    modules = directory.glob("*.hlo_proto.pb")
    return json.loads(tools.output.read_bytes()), {path.name: fields(path) for path in modules}


def fields(path: Path) -> bytes:
    """All that is in a module, for XProf writes entries of maps in any order."""
    return unordered(path.read_bytes())


def unordered(data: bytes) -> bytes:
    """The fields of a message, sorted; what can't be a message stays as it is."""
    try:
        found = list(Walker(data, len(data) + 1).fields(0, len(data)))
    except WireError:
        return data
    return b"".join(
        sorted(
            b"%d:%d;" % (tag, first)
            if tag & 7 == 0
            else b"%d:%b;" % (tag, unordered(data[first:last]))
            for tag, first, last in found
        )
    )


@pytest.mark.parametrize("kind", KINDS)
def test_all_that_the_list_depends_on(engine: XprofEngine, tmp_path: Path, kind: str) -> None:
    hosts = KINDS[kind]
    whole = listed(engine, tmp_path / "whole", hosts, take_in)
    assert listed(engine, tmp_path / "without", hosts, without_timelines(take_in)) == whole


def made(write: Callable[[Path], object], tmp_path: Path) -> list[bytes]:
    path = tmp_path / "made.xplane.pb"
    write(path)
    return [path.read_bytes()]


def demo(tmp_path: Path) -> list[bytes]:
    folder = tmp_path / "demo"
    write_session(folder, hosts=2, events=1500)
    return [path.read_bytes() for path in sorted(folder.iterdir())]


SESSIONS: dict[str, Callable[[Path], list[bytes]]] = {
    "TPU hosts": demo,
    "JAX on the CPU": lambda _: [gzip.decompress(JAX.read_bytes())],
    "GPUs": lambda folder: made(write_gpu_profile, folder),
    "allocators": lambda folder: made(lambda path: write_memory_profile(path, 3, 200, 1), folder),
    "compressed": lambda _: [JAX.read_bytes()],
}


@pytest.mark.parametrize("kind", SESSIONS)
def test_sessions_of_all_kinds(engine: XprofEngine, tmp_path: Path, kind: str) -> None:
    hosts = SESSIONS[kind](tmp_path)
    whole = listed(engine, tmp_path / "whole", hosts, take_in)
    assert isinstance(whole, tuple)
    assert listed(engine, tmp_path / "without", hosts, without_timelines(take_in)) == whole


def usable(path: Path) -> bool:
    """Whether the inspection lets it through."""
    try:
        take_in(
            path, StoredFile(str(path), path.name, path.stat().st_size, "1"), path.with_name("in")
        )
    except LoaderError:
        return False
    return True


def test_the_corpus(engine: XprofEngine, tmp_path: Path) -> None:
    """Each damaged profile that the inspection lets through, also where XProf fails on it."""
    compared = 0
    for path in sorted(CORPUS.glob("*.xplane.pb")):
        folder = tmp_path / path.name
        folder.mkdir()
        (folder / "original").write_bytes(path.read_bytes())
        if not usable(folder / "original"):
            continue
        hosts = [path.read_bytes()]
        whole = listed(engine, folder / "whole", hosts, take_in)
        without = listed(engine, folder / "without", hosts, without_timelines(take_in))
        assert without == whole, path.name
        compared += 1
    assert compared >= 10


def test_random_profiles(engine: XprofEngine, tmp_path: Path) -> None:
    dice = random.Random(1)
    for seed in range(30):
        kinds = dice.choices((device_profile, allocator_profile), k=2)
        hosts = [kind(seed * 2 + at) + dice.choice((b"", HLO)) for at, kind in enumerate(kinds)]
        whole = listed(engine, tmp_path / f"{seed}-whole", hosts, take_in)
        without = listed(engine, tmp_path / f"{seed}-without", hosts, without_timelines(take_in))
        assert without == whole, seed
