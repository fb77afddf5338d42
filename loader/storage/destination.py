"""Writing a download into its place on disk: the one way for all storages.

The file is given its full size first and is never cut to zero, because the scratch counts and reserves
space by file sizes while downloads run. Failures of writing are `OSError`, never `LoaderError`: whoever
chose the place knows what a full disk means there.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def open_destination(path: Path, size: int) -> Iterator[int]:
    """Opens a file of exactly `size` bytes for writing at any offset; gives its descriptor."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        os.ftruncate(descriptor, size)
        yield descriptor
    finally:
        os.close(descriptor)


def write_at(descriptor: int, block: bytes | memoryview, offset: int) -> None:
    """Writes a whole block; one `pwrite` may write less than it was given."""
    view = memoryview(block)
    while view:
        written = os.pwrite(descriptor, view, offset)
        view, offset = view[written:], offset + written
