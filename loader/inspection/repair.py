"""Patches that make a profile readable, and applying them to a copy.

A patch has the length of what it replaces, so no length in the file changes and a profile of any size is
mended with constant memory. Nothing here may touch a file that others see: the caller gives a private copy.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Repair:
    """Bytes that replace as many others.

    Attributes:
        offset: where in the file.
        data: what stands there afterwards.
    """

    offset: int
    data: bytes


def apply_repairs(path: Path, repairs: Iterable[Repair]) -> None:
    """Writes the patches into a file.

    Raises:
        OSError: it can't be written.
    """
    with path.open("r+b") as stream:
        for repair in repairs:
            stream.seek(repair.offset)
            stream.write(repair.data)
