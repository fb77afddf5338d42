"""A disk of its own that a test can fill: a file system in memory, for which it takes root's rights."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_PIECE = b"\0" * 4096


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """A folder on a disk of so many bytes, such as `64k`; skips the test where nothing can be mounted."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small file system needs more rights")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(folder: Path) -> Path:
    """Takes all that is left on the disk of a folder; returns the file that holds it."""
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file:
        try:
            while file.write(_PIECE):
                pass
        except OSError:
            return filler
    raise AssertionError("a disk that never gets full")
