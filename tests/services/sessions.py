"""Sessions that many tests read. They are shared: a test that changes files copies them first."""

from __future__ import annotations

from pathlib import Path

import pytest

from server.demo.session import write_session


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
