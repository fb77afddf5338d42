"""Tries to break each layer of the sandbox in a process that has just put it on.

A layer counts only when an attempt fails: kernels, containers and gVisor accept some calls and do nothing.
Run as a module it prints a JSON list of [name, holds, detail].
"""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from loader.engine import seccomp
from loader.engine.base import Limits
from loader.engine.sandbox import FIRST_UID, LAYERS, Cage, Layer, harden, layers_from_json

_PR_GET_NO_NEW_PRIVS = 39
_LIMITS = Limits(seconds=20, memory_bytes=1 << 30, output_bytes=1 << 20)
_READABLE_BY_ALL = "/etc/passwd"
"""A file that every user may read on every system, and that the engine has no business with."""


def try_layers(uid: int | None) -> tuple[Layer, ...]:
    """Forks a process that confines itself and tries to break out; call it with a single thread.

    Args:
        uid: user for the trial, or None to try without.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reader)
            os.write(writer, json.dumps(_attempt(uid)).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as answers:
        text = answers.read()
    os.waitpid(child, 0)
    if not text:
        return tuple(Layer(name, False, "the self-test process died") for name in LAYERS)
    return layers_from_json(json.loads(text))


def _attempt(uid: int | None) -> list[tuple[str, bool, str]]:
    """In the child: puts everything on and tries each layer."""
    signal.alarm(20)
    folder = os.open(tempfile.gettempdir(), os.O_PATH | os.O_DIRECTORY)
    missing = harden(Cage(folder, _LIMITS, uid, os.getppid()))
    return [
        (name, holds, "" if holds else missing.get(name, "the system accepts it without effect"))
        for name, holds in ((name, name not in missing and _TRIALS[name]()) for name in LAYERS)
    ]


def _limits_hold() -> bool:
    core = resource.getrlimit(resource.RLIMIT_CORE)[1]
    files = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    return core == 0 and 0 <= files <= _LIMITS.output_bytes


def _no_privileges_hold() -> bool:
    return seccomp.prctl(_PR_GET_NO_NEW_PRIVS) == 1


def _own_user_holds() -> bool:
    """Nobody who may still become root counts as somebody else."""
    return 0 not in os.getresuid() and 0 not in os.getresgid() and not os.getgroups()


def _system_calls_hold() -> bool:
    return _refused(lambda: socket.socket().close()) and _refused(_fork) and _refused(_execute)


def _landlock_holds() -> bool:
    return _refused(lambda: Path(_READABLE_BY_ALL).read_bytes())


def _fork() -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


def _execute() -> None:
    os.execv(sys.executable, [sys.executable, "-c", ""])  # noqa: S606 - must fail


def _refused(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except PermissionError:
        return True
    except OSError:
        return False
    return False


_TRIALS: dict[str, Callable[[], bool]] = {
    "limits": _limits_hold,
    "no_new_privileges": _no_privileges_hold,
    "own_user": _own_user_holds,
    "system_calls": _system_calls_hold,
    "landlock": _landlock_holds,
}


def main() -> None:
    """Prints the layers of this machine."""
    layers = try_layers(FIRST_UID if os.geteuid() == 0 else None)
    sys.stdout.write(json.dumps([[layer.name, layer.holds, layer.detail] for layer in layers]))


if __name__ == "__main__":
    main()
