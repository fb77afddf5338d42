"""What happens when a service that a test needs isn't installed: CI fails, elsewhere the test is skipped."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import pytest


def missing(what: str, package: str) -> NoReturn:
    """Ends the test: `what` was not found, Debian's `package` brings it."""
    reason = (
        f"{what} not found. Get it with: apt-get install {package} (make test does so when it may)."
    )
    if os.environ.get("CI"):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


def find_program(names: Sequence[str], folders: Sequence[Path] = ()) -> Path | None:
    """The first of the programs that is on PATH or in one of the folders."""
    for name in names:
        if found := shutil.which(name):
            return Path(found)
        for folder in folders:
            if found := shutil.which(name, path=str(folder)):
                return Path(found)
    return None
