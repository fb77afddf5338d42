"""Tries to break out of each layer of the sandbox, in processes that have just put it on.

A layer counts only when everything that it is responsible for is refused: kernels, containers and gVisor
accept some calls and do nothing. Layers that can stand alone are tried alone, so that one does not pass for
another, and then all together, as a conversion wears them. Run as a module it prints a JSON list of
[name, holds, detail].
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from loader.engine.attempts import (
    ATTEMPTS,
    INPUT,
    OWN_FILES,
    TRIAL_LIMITS,
    Surroundings,
    successes,
)
from loader.engine.sandbox import FIRST_UID, LAYERS, Cage, Layer, harden

_ALONE: Mapping[str, tuple[str, ...]] = {
    "own_user": ("limits", "own_user"),
    "system_calls": ("no_new_privileges", "system_calls"),
    # The kernel wants the first; before Linux 6.2 Landlock leaves truncation by name to the second.
    "landlock": ("no_new_privileges", "landlock", "system_calls"),
}
"""What is put on to try one layer. The others make no sense alone: who is root raises every limit."""

_SECONDS = 20
_FEW = 5


@dataclass(frozen=True)
class Trial:
    """What came of one process.

    Attributes:
        missing: layers that could not be put on, with the reason.
        through: for each layer asked about, the attempts that were not refused.
    """

    missing: Mapping[str, str]
    through: Mapping[str, Sequence[str]]


def try_layers(uid: int | None) -> tuple[Layer, ...]:
    """Forks processes that confine themselves and try to break out; call it with a single thread.

    Args:
        uid: user for the trials, or None to try without.
    """
    try:
        trials = {name: try_once(uid, layers, [name]) for name, layers in _ALONE.items()}
        together = try_once(uid, LAYERS, LAYERS)
    except OSError as error:
        return tuple(Layer(name, False, f"it can't be tried: {error}") for name in LAYERS)
    return tuple(_judge(name, [*_alone(trials, name), together]) for name in LAYERS)


def _alone(trials: Mapping[str, Trial], name: str) -> list[Trial]:
    return [trials[name]] if name in trials else []


def _judge(name: str, trials: Sequence[Trial]) -> Layer:
    for trial in trials:
        if name in trial.missing:
            return Layer(name, False, trial.missing[name])
        through = trial.through[name]
        if through:
            more = ", …" if len(through) > _FEW else ""
            return Layer(name, False, f"not stopped: {', '.join(through[:_FEW])}{more}")
    return Layer(name, True)


def try_once(uid: int | None, layers: Collection[str], asked: Collection[str]) -> Trial:
    """One trial, in a process of its own.

    Raises:
        OSError: no process or folder for it can be made.
    """
    with _place(uid) as (job, around):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.write(writer, _attempt(uid, layers, asked, job, around))
            finally:
                os._exit(0)
        os.close(writer)
        with os.fdopen(reader, "rb") as answers:
            text = answers.read()
        os.waitpid(child, 0)
    if not text:
        return Trial(dict.fromkeys(LAYERS, "the process that tried it died"), {})
    return Trial(*json.loads(text))


def _attempt(
    uid: int | None,
    layers: Collection[str],
    asked: Collection[str],
    job: Path,
    around: Surroundings,
) -> bytes:
    """In the child: puts the layers on and makes the attempts."""
    signal.alarm(_SECONDS)
    directory = os.open(job, os.O_RDONLY | os.O_DIRECTORY)
    os.fchdir(directory)
    missing = harden(Cage(directory, TRIAL_LIMITS, uid, os.getppid()), layers)
    through = {name: successes(ATTEMPTS[name], around) for name in asked if name not in missing}
    return json.dumps([missing, through]).encode()


@contextmanager
def _place(uid: int | None) -> Iterator[tuple[Path, Surroundings]]:
    """A job's directory, and beside it what an attempt may aim at; see `Surroundings`."""
    with tempfile.TemporaryDirectory(prefix="sandbox-", ignore_cleanup_errors=True) as folder:
        outside = Path(folder)
        outside.chmod(0o755)
        for name in ("kept", "gone"):
            (outside / name).write_bytes(b"x")
        (outside / "everyone").mkdir()
        (outside / "everyone").chmod(0o777)
        (outside / "other").mkdir(mode=0o700)
        (outside / "other" / "answer").write_bytes(b"x")
        job = outside / "job"
        job.mkdir(mode=0o700)
        (job / INPUT).write_bytes(b"x")
        (job / INPUT).chmod(0o444)
        for name in OWN_FILES:
            (job / name).write_bytes(b"x")
        if uid is not None and os.geteuid() == 0:
            for path in (job, *(job / name for name in OWN_FILES)):
                os.chown(path, uid, uid)
        yield job, Surroundings(outside, (os.getpid(), os.getppid()))


def main() -> None:
    """Prints the layers of this machine."""
    layers = try_layers(FIRST_UID if os.geteuid() == 0 else None)
    sys.stdout.write(json.dumps([[layer.name, layer.holds, layer.detail] for layer in layers]))


if __name__ == "__main__":
    main()
