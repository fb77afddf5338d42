"""Progress bars on standard error, for people at a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
)

Advance: TypeAlias = Callable[[str, int, int], None]
"""Takes what is being done, how far it is, and of how much; 0 when nobody can say."""


@contextmanager
def progress_bar(label: str) -> Iterator[Advance]:
    """A bar that is gone when the work is done; nothing at all in a file or pipe."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
    )
    with Progress(
        *columns, console=console, transient=True, disable=not sys.stderr.isatty()
    ) as progress:
        task = progress.add_task(label, total=None)

        def advance(doing: str, done: int, total: int) -> None:
            progress.update(task, description=doing, completed=done, total=total or None)

        yield advance
