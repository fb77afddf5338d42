"""Finds the distribution's Chromium."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.services.missing import find_program, missing

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture(scope="session")
def chromium() -> Path:
    """The browser's program: CHROMIUM from the environment, or the one on PATH."""
    named = os.environ.get("CHROMIUM")
    program = find_program([named] if named else NAMES)
    if program is None:
        missing(named or "chromium", "chromium")
    return program
