"""Converts sessions in XProf and in XProf Hub, for one user and for eight, and compares what it costs.

    python bench/conversion.py [--markdown] [--profile FILE] [--hosts 4 16] [--users 1 8] [--events 100000]

Sessions: a profile of JAX on the CPU (`--profile`, or captured on the spot where jax is installed) and
synthetic ones with the given numbers of hosts. Steps: list of tools and hosts, first overview, first trace,
three zooms that nobody has asked for, the same trace once more, and overview and trace from a fresh server
that finds what the first has left for others. Then, for one user, the tools that the fast engine serves. An
answer counts as right if it says what XProf's says to one user in the same run.

Peak memory is the resident memory of the server's whole process tree, sampled; CPU is that of the same tree
until it rests again.
"""

from __future__ import annotations

import argparse
import importlib.util
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.accounting import adopt_orphans, machine
from bench.answers import Expected
from bench.contenders import FastHub, Hub, XprofServer
from bench.conversion_report import print_report
from bench.conversion_steps import Bench, Measurement, Start
from bench.jax_profile import capture
from loader.storage.base import XPLANE_SUFFIX
from server.demo.session import write_session
from server.serve import stop_on_terminate


def sessions(arguments: argparse.Namespace, folder: Path) -> Iterator[tuple[str, Path]]:
    """What each session is, and its folder."""
    jax = folder / "jax"
    if arguments.profile is not None:
        jax.mkdir()
        shutil.copy(arguments.profile, jax / f"profile{XPLANE_SUFFIX}")
        yield "one profile", jax
    elif arguments.jax and importlib.util.find_spec("jax") is not None:
        capture(jax)
        yield "JAX on the CPU", jax
    elif arguments.jax:
        print("No JAX profile: jax is not installed; --profile FILE takes one.", file=sys.stderr)
    for hosts in arguments.hosts:
        synthetic = folder / f"{hosts}-hosts"
        write_session(synthetic, hosts, arguments.events)
        yield f"synthetic, {arguments.events:,} events per host", synthetic


def measure(about: str, session: Path, crowds: Sequence[int]) -> Iterator[Measurement]:
    """All steps of all servers with one session, each in a fresh folder; XProf goes first."""
    files = sorted(session.glob(f"*{XPLANE_SUFFIX}"))
    megabytes = sum(path.stat().st_size for path in files) / 1e6
    name = f"{len(files)} host{'s' if len(files) > 1 else ''}, {megabytes:.0f} MB ({about})"
    host = files[0].name.removesuffix(XPLANE_SUFFIX)
    expected = Expected()
    kinds: list[Start] = [XprofServer, Hub]
    for users in crowds:
        bench = Bench(name, session, host, users, expected)
        for kind in kinds:
            with tempfile.TemporaryDirectory(prefix="xprof-hub-bench-") as folder:
                yield from bench.open_session(kind, Path(folder))
    bench = Bench(name, session, host, 1, expected)
    for kind in [*kinds, FastHub] if FastHub.is_installed() else kinds:
        with tempfile.TemporaryDirectory(prefix="xprof-hub-bench-") as folder:
            yield from bench.open_tables(kind, Path(folder))


def main() -> None:
    """Reads the command line, measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--profile", type=Path, help="profile file in place of a captured one")
    parser.add_argument("--no-jax", dest="jax", action="store_false", help="capture none")
    parser.add_argument(
        "--hosts", type=int, nargs="*", default=[4, 16], help="one synthetic session for each"
    )
    parser.add_argument("--events", type=int, default=100_000, help="events per host")
    parser.add_argument("--users", type=int, nargs="+", default=[1, 8], help="the first must be 1")
    parser.add_argument("--markdown", action="store_true", help="print for docs/performance.md")
    arguments = parser.parse_args()
    if arguments.users[0] != 1:
        parser.error("the first crowd must be one user: its answers are what the others must be")
    adopt_orphans()
    stop_on_terminate()
    found: list[Measurement] = []
    with tempfile.TemporaryDirectory(prefix="xprof-hub-bench-") as folder:
        for about, session in sessions(arguments, Path(folder)):
            for measurement in measure(about, session, arguments.users):
                print(
                    f"{measurement.session}: {measurement.contender}, {measurement.users} users, "
                    f"{measurement.what}: {measurement.seconds:.3f} s",
                    file=sys.stderr,
                )
                found.append(measurement)
            shutil.rmtree(session)
    print_report(found, machine(), arguments.markdown)


if __name__ == "__main__":
    main()
