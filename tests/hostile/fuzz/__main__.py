"""`make fuzz ARGS="--seconds 120 --seed 7"`: fuzzes a worker, prints a summary, keeps what it found.

`--replay FILE ...` tries kept profiles again.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.hostile.fuzz.run import fuzz


def main() -> None:
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=120.0, help="how long")
    parser.add_argument("--seed", type=int, default=1, help="of the damage")
    parser.add_argument(
        "--keep", type=Path, default=Path("fuzz-findings"), help="folder for findings"
    )
    parser.add_argument(
        "--replay", type=Path, nargs="+", help="profiles to try instead", default=()
    )
    parser.add_argument("--engine", choices=("xprof", "fast"), default="xprof", help="the worker's")
    asked = parser.parse_args()
    given = [(path.name.removesuffix(".xplane.pb"), path.read_bytes()) for path in asked.replay]
    summary = fuzz(asked.seconds, asked.seed, given, None if given else asked.keep, asked.engine)
    print(summary.text())
    sys.exit(1 if summary.findings else 0)


if __name__ == "__main__":
    main()
