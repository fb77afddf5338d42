"""Simulates how many front ends and workers a hub needs, how long people wait and what it costs.

    python -m bench.capacity              # the tables, as text
    python -m bench.capacity --markdown   # what docs/capacity.md shows between its marks

It measures nothing; `bench/capacity_model/costs.py` says what it is given. About half a minute.
"""

from __future__ import annotations

import argparse

from bench.capacity_model.report import markdown, simulate, size_lines, waiting_lines
from bench.capacity_model.scenarios import SCENARIOS


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--markdown", action="store_true", help="all that the document shows")
    parser.add_argument("--only", default="", help="scenarios whose name has this in it")
    arguments = parser.parse_args()
    chosen = [scenario for scenario in SCENARIOS if arguments.only in scenario.name]
    results = simulate(chosen)
    if arguments.markdown:
        print(markdown(results))
    else:
        print("\n".join([*waiting_lines(results), "", *size_lines(results)]))


if __name__ == "__main__":
    main()
