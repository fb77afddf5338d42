"""Many people at one front end and 1, 2 and 4 workers with Redis, on this machine only.

    python -m bench.load [--steps 1,2,4] [--seconds 90]   # how throughput and waiting grow; about 6 minutes
    python -m bench.load --disturb                        # workers die, end and come meanwhile; 3 minutes
    python -m bench.load --crowd 200                      # so many open one new link within 3 s
    python -m bench.load --soak 10                        # minutes of even load: does anything grow?
    python -m bench.load --costs                          # processor time of single requests; 1 minute

Makes a thousand small sessions first. Add `--markdown` for the tables of docs/performance.md, `--output FILE`
for everything as JSON, `--record` to compare the capacity model with these steps or costs. Exit status 1 when
a person would have seen an error, or something leaks.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from bench.accounting import adopt_orphans, machine
from bench.capacity_model.measured import record
from bench.load_test.scenes import Scene, crowd, disturb, leftover_processes, singles, soak, steps
from bench.load_test.stage import Stage
from server.serve import stop_on_terminate


def main() -> None:
    """Plays what is asked for, prints it, and says whether it went well."""
    options = _options()
    stop_on_terminate()
    adopt_orphans()
    with tempfile.TemporaryDirectory(prefix="xprof-hub-load-") as name:
        stage = Stage.build(Path(name), options.sessions, options.seed)
        scene = _play(stage, options)
    scene.wrong += leftover_processes()
    if options.output:
        Path(options.output).write_text(
            json.dumps({"machine": machine(), **scene.facts}, indent=2) + "\n"
        )
    if options.record:
        noted = f"{datetime.now(UTC):%Y-%m-%d}, {machine()}"
        record(scene.measured | {f"{part}_on": noted for part in scene.measured})
    print(f"{machine()}; {options.sessions} sessions, seed {options.seed}\n")
    for title, lines in scene.tables:
        print("\n".join([f"{'### ' if options.markdown else ''}{title}", "", *lines, ""]))
    print("\n".join(f"- WRONG: {sentence}" for sentence in scene.wrong) or "Nobody saw an error.")
    sys.exit(bool(scene.wrong))


def _play(stage: Stage, options: argparse.Namespace) -> Scene:
    if options.costs:
        return singles(stage, options.seed)
    if options.soak:
        return soak(stage, options.soak * 60, options.people or 8, options.seed)
    if options.crowd:
        return crowd(stage, options.crowd, options.seed)
    if options.disturb:
        return disturb(stage, options.seconds or 150, options.people or 10, options.seed)
    counts = [int(count) for count in options.steps.split(",")]
    return steps(stage, counts, options.seconds or 90, options.people or 24, options.seed)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", default="1,2,4", help="numbers of workers")
    parser.add_argument("--seconds", type=float, default=0, help="of each step, or of --disturb")
    parser.add_argument("--people", type=int, default=0, help="at once")
    parser.add_argument("--sessions", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--disturb", action="store_true")
    parser.add_argument("--crowd", type=int, default=0, metavar="PEOPLE")
    parser.add_argument("--soak", type=float, default=0, metavar="MINUTES")
    parser.add_argument("--costs", action="store_true", help="of single requests")
    parser.add_argument("--record", action="store_true", help="for docs/capacity.md, see there")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--output", default="", metavar="FILE")
    return parser.parse_args()


if __name__ == "__main__":
    main()
