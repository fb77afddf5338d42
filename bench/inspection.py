"""Measures the look at a profile before the engine reads it.

    python bench/inspection.py [--events 1000000] [--rounds 3] [FILE ...]

Prints for each file the megabytes per CPU second of one core (the best of the rounds, for other work on the
machine only makes it slower), the objects counted, and by how much the process grew. Without a file it
measures a synthetic TPU host. The target is 200 MB/s on a JAX CPU profile of 70 MB.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from loader.intake.inspect import inspect_profile
from server.demo.session import write_session


def measure(path: Path, rounds: int) -> str:
    """One line about one file."""
    before = _peak_megabytes()
    seconds = []
    for _ in range(rounds):
        start = time.process_time()
        found = inspect_profile(path)
        seconds.append(time.process_time() - start)
    grown = _peak_megabytes() - before
    megabytes = path.stat().st_size / 1e6
    return (
        f"{path.name}: {megabytes:.1f} MB, {megabytes / min(seconds):.0f} MB/s, {found.planes} planes, "
        f"{found.lines:,} lines, {found.events:,} events; {grown:.0f} MB of memory"
    )


def _peak_megabytes() -> float:
    """The most memory that this process has used so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(arguments: Sequence[str] | None = None) -> None:
    """Measures what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        files = chosen.files or write_session(Path(folder), hosts=1, events=chosen.events)
        for path in files:
            print(measure(path, chosen.rounds), flush=True)


if __name__ == "__main__":
    main()
