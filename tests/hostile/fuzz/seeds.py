"""The profiles that fuzzing starts from: small, and between them with everything that XProf reads."""

from __future__ import annotations

import gzip
from pathlib import Path

from server.demo.hlo import EVAL_STEP, load_module
from tests.wire_bytes import (
    block,
    event_metadata,
    good_profile,
    hlo_proto_stat,
    line,
    map_entry,
    metadata_plane,
    number,
    plane,
    stat_metadata,
)

CORPUS = Path(__file__).parents[1] / "corpus"
_LARGEST = 5000


def real_profile() -> bytes:
    """A small profile of a TPU as XProf writes it, with an HLO module."""
    return gzip.decompress((CORPUS / "gzip.xplane.pb").read_bytes())


def seeds() -> list[bytes]:
    """All of them; the order is always the same."""
    corpus = sorted(CORPUS.glob("*.xplane.pb"))
    small = [path.read_bytes() for path in corpus if 0 < path.stat().st_size <= _LARGEST]
    whole = [real_profile(), good_profile(), _host_profile(), _module_profile()]
    return [*whole[:3] * 6, whole[3], *small]


def _host_profile() -> bytes:
    """Threads of a host: nested events, allocations with their stats, steps of an input pipeline."""
    names = ("train 1", "MemoryAllocation", "IteratorGetNext::Parallel", "MemoryDeallocation")
    stats = ("group_id", "bytes_allocated", "allocator_name", "step_num", "_r", "peak_bytes_in_use")
    events = b"".join(
        block(
            4,
            number(1, at % 4 + 1) + number(2, at * 1000) + number(3, 5000 - at * 100) + _stats(at),
        )
        for at in range(12)
    )
    metadata = b"".join(event_metadata(key, name) for key, name in enumerate(names, 1))
    metadata += b"".join(stat_metadata(key, name) for key, name in enumerate(stats, 1))
    return plane("/host:CPU", line("python", events) + metadata) + block(4, "host-0")


def _stats(at: int) -> bytes:
    values = (number(3, 1), number(3, 4096 * at), block(5, "bfc"), number(4, at), number(3, 1))
    return b"".join(block(4, number(1, key) + value) for key, value in enumerate(values, 1))


def _module_profile() -> bytes:
    """A device that runs a real HLO module."""
    proto = load_module(EVAL_STEP).proto
    operations = b"".join(
        map_entry(4, key, number(1, key) + block(2, f"%fusion.{key} = f32[8]{{0}} fusion()"))
        for key in range(1, 6)
    )
    events = b"".join(
        block(4, number(1, at % 5 + 1) + number(2, at * 100_000) + number(3, 90_000))
        for at in range(20)
    )
    device = plane("/device:TPU:0", line("XLA Ops", events) + operations)
    return device + metadata_plane(event_metadata(1, "jit_eval(7)", stats=hlo_proto_stat(proto)))
