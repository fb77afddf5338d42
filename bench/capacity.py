"""Simulates how many front ends and workers a hub needs, how long people wait and what it costs.

    python -m bench.capacity              # the tables, as text
    python -m bench.capacity --markdown   # what docs/capacity.md shows between its first two marks
    python -m bench.capacity --compared   # the model beside the load test, between the other two
    python -m bench.capacity --compared --write docs/capacity.md   # puts it there

It measures nothing; `bench/capacity_model/costs.py` says what it is given, and `measured.json` what a load
test showed (`python -m bench.load --record`). About half a minute.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from bench.capacity_model import compared
from bench.capacity_model.measured import read_measured
from bench.capacity_model.report import markdown, simulate, size_lines, waiting_lines
from bench.capacity_model.scenarios import SCENARIOS


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--markdown", action="store_true", help="all that the document shows")
    parser.add_argument("--only", default="", help="scenarios whose name has this in it")
    parser.add_argument("--compared", action="store_true", help="the model beside the load test")
    parser.add_argument("--write", type=Path, metavar="FILE", help="the document to put that into")
    arguments = parser.parse_args()
    if arguments.compared:
        _compare(arguments.write)
        return
    chosen = [scenario for scenario in SCENARIOS if arguments.only in scenario.name]
    results = simulate(chosen)
    if arguments.markdown:
        print(markdown(results))
    else:
        print("\n".join([*waiting_lines(results), "", *size_lines(results)]))


def _compare(document: Path | None) -> None:
    """Prints the comparison, or puts it into a document in place of the one that is there."""
    made = compared.markdown(read_measured())
    if document is None:
        print(made)
        return
    before, _, rest = document.read_text().partition(compared.BEGIN)
    document.write_text(before + made + rest.partition(compared.END)[2])


if __name__ == "__main__":
    main()
