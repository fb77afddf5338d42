"""An engine with xprof-rs for tests; they are skipped where that is not installed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from loader.engine.rs import find_program
from loader.engine.xprof import XprofEngine


@pytest.fixture(scope="session")
def both() -> Iterator[XprofEngine]:
    """An engine whose jobs may ask for either program."""
    try:
        program = find_program()
    except RuntimeError as reason:
        pytest.skip(str(reason))
    engine = XprofEngine(program=program)
    yield engine
    engine.close()
