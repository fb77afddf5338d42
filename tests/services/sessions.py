"""Sessions that many tests read. They are shared: a test that changes files copies them first."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from pathlib import Path

import pytest

from server.demo.session import write_session
from tests.services.gpu_session import write_gpu_profile
from tests.services.memory_session import write_memory_profile

JAX_ON_CPU = Path(__file__).parents[1] / "data" / "jax_cpu"


@pytest.fixture(scope="session")
def small_session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a session of two hosts with few events (about 1 MB each, two steps)."""
    folder = tmp_path_factory.mktemp("small") / "plugins" / "profile" / "small"
    write_session(folder, hosts=2, events=3000)
    return folder


@pytest.fixture(scope="session")
def demo_session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a session as the demo shows it: four hosts, 20,000 events each."""
    folder = tmp_path_factory.mktemp("demo") / "plugins" / "profile" / "demo"
    write_session(folder, hosts=4, events=20_000)
    return folder


@pytest.fixture(scope="session")
def other_sessions(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """Folders of sessions of one host that hold what the demo's don't.

    `jax` was recorded by JAX on a CPU (tests/data/jax_cpu), `gpu` has kernels of two GPUs, and `memory` two
    busy allocators.
    """
    profiles = tmp_path_factory.mktemp("others") / "plugins" / "profile"
    folders = {name: profiles / name for name in ("jax", "gpu", "memory")}
    for folder in folders.values():
        folder.mkdir(parents=True)
    recorded = gzip.decompress((JAX_ON_CPU / "jax-cpu.xplane.pb.gz").read_bytes())
    (folders["jax"] / "jax-cpu.xplane.pb").write_bytes(recorded)
    write_gpu_profile(folders["gpu"] / "gpu-host.xplane.pb")
    write_memory_profile(folders["memory"] / "host.xplane.pb", allocators=2, events=300, seed=5)
    return folders
