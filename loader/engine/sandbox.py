"""What a process does to itself before it lets the engine loose on a stranger's file.

Several layers, none of which needs a namespace or a privilege that containers withhold: resource limits, no
new privileges, a user of its own, a filter of system calls, Landlock. A machine may lack some; `harden`
applies what there is and names what is missing, and `available_layers` tries them for real in a process
of its own. Nothing here knows what a conversion is.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from loader.engine import landlock, seccomp
from loader.engine.base import Limits

LAYERS = ("limits", "no_new_privileges", "own_user", "system_calls", "landlock")
"""Names of all layers."""

REQUIREMENTS: Mapping[str, tuple[str, ...]] = {
    "strict": LAYERS,
    "standard": ("limits", "no_new_privileges", "system_calls", "own_user|landlock"),
    "reduced": (),
}
"""What must hold in each mode: names of layers, or of several of which one must hold. A user of its own and
Landlock each keep a conversion from the server's files and secrets; only root can give the first, and not
every kernel has the second."""

FIRST_UID = 62_000
"""First of the user ids that conversions run under when the server is root; one per slot. Above the ranges
that distributions hand out, below `nobody`."""

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE = 1, 4
_ADDRESS_SPACE_FACTOR, _ADDRESS_SPACE_SLACK = 4, 4 << 30
OPEN_FILES = 512
"""Most descriptors of a confined process; none with this number or a higher one can be made there."""
_THREADS = 4096


@dataclass(frozen=True)
class Layer:
    """Whether one layer of the sandbox holds on this machine.

    Attributes:
        name: one of `LAYERS`.
        holds: whether an attempt to break it failed.
        detail: why it doesn't hold, in words; empty when it does.
    """

    name: str
    holds: bool
    detail: str = ""


@dataclass(frozen=True)
class Cage:
    """What one process is confined to.

    Attributes:
        directory: descriptor of the only folder that it may write in.
        limits: of the conversion.
        uid: user and group to become, or None to stay who it is.
        parent: process without which this one must not live.
        program: descriptor of a program that the process is about to become; it may then write nowhere.
        rules: what the filter of system calls decides first.
    """

    directory: int
    limits: Limits
    uid: int | None
    parent: int
    program: int | None = None
    rules: Sequence[seccomp.Rule] = ()


def harden(cage: Cage, layers: Collection[str] = LAYERS) -> dict[str, str]:
    """Confines this process for good; call it in a process with a single thread.

    Args:
        cage: what to confine it to.
        layers: which layers to apply; fewer than all only to try one apart from the others.

    Returns:
        Names of those layers that could not be applied, with the reason.
    """
    missing: dict[str, str] = {}
    _volunteer_as_victim()
    steps: tuple[tuple[str, Callable[[], None]], ...] = (
        ("limits", lambda: _limit(cage)),
        ("no_new_privileges", seccomp.forbid_new_privileges),
        ("landlock", lambda: landlock.restrict(cage.directory, cage.program)),
        ("own_user", lambda: _become(cage.uid)),
        # After the change of user, which needs one. Who stays root has none from here on either.
        ("no_new_privileges", seccomp.drop_capabilities),
    )
    for name, apply in steps:
        if name in layers:
            _try(name, apply, missing)
    # Changing the user forgets the death signal, so it is set after that; a parent that died in between is
    # noticed by its number.
    seccomp.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != cage.parent:
        os._exit(1)
    hide_memory()
    if "system_calls" in layers:
        _try("system_calls", lambda: seccomp.install(os.getpid(), cage.rules), missing)
    return missing


def die_with_parent() -> None:
    """Has the kernel end this process when the thread that started it ends."""
    seccomp.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def hide_memory() -> None:
    """Keeps other processes of the same user from reading this one's memory and environment."""
    seccomp.prctl(_PR_SET_DUMPABLE, 0)


def _try(name: str, apply: Callable[[], None], missing: dict[str, str]) -> None:
    try:
        apply()
    except (OSError, ValueError) as error:
        missing[name] = str(error)


def _volunteer_as_victim() -> None:
    """Asks the kernel to end this process first when the whole machine runs out of memory."""
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def _limit(cage: Cage) -> None:
    """Limits that the kernel itself enforces; resident memory and wall clock are watched from outside.

    The address space is only a backstop: threads and allocators reserve several times what they use.
    """
    cores = os.cpu_count() or 1
    processor = math.ceil(cage.limits.seconds * cores) + 2
    limits = [
        (
            resource.RLIMIT_AS,
            _ADDRESS_SPACE_FACTOR * cage.limits.memory_bytes + _ADDRESS_SPACE_SLACK,
        ),
        (resource.RLIMIT_FSIZE, cage.limits.output_bytes),
        (resource.RLIMIT_NOFILE, OPEN_FILES),
        (resource.RLIMIT_CORE, 0),
    ]
    if cage.uid is not None:
        limits.append((resource.RLIMIT_NPROC, _THREADS))
    for which, value in limits:
        _lower(which, value)
    _lower(resource.RLIMIT_CPU, processor, hard=processor + 5)


def _lower(which: int, value: int, hard: int | None = None) -> None:
    """Sets a limit, or leaves a stricter one that the process was born with."""
    _, ceiling = resource.getrlimit(which)
    hard = value if hard is None else hard
    if ceiling != resource.RLIM_INFINITY:
        value, hard = min(value, ceiling), min(hard, ceiling)
    resource.setrlimit(which, (value, hard))


def _become(uid: int | None) -> None:
    """Takes on a user of its own, with no other groups and no capabilities."""
    if uid is None:
        raise PermissionError("only root can give each conversion a user of its own")
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def available_layers(python: str = sys.executable) -> tuple[Layer, ...]:
    """Tries every layer in a process of its own (about 0.1 s) and says which of them hold here.

    Raises:
        OSError: when that process can't be started or doesn't answer.
    """
    done = subprocess.run(  # noqa: S603 - our own interpreter and module
        [python, "-m", "loader.engine.selftest"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
        env=clean_environment(),
    )
    try:
        return layers_from_json(json.loads(done.stdout))
    except ValueError as error:
        tail = done.stderr.decode(errors="replace").strip()[-200:]
        raise OSError(f"the sandbox's self-test did not answer: {tail}") from error


def layers_from_json(rows: Iterable[tuple[str, bool, str]]) -> tuple[Layer, ...]:
    """Layers as `selftest` prints them."""
    return tuple(Layer(str(name), bool(holds), str(detail)) for name, holds, detail in rows)


def unmet(requirements: Iterable[str], held: Collection[str]) -> list[str]:
    """Those of the requirements (as in `REQUIREMENTS`) that the layers that hold do not meet."""
    return [
        requirement
        for requirement in requirements
        if not any(name in held for name in requirement.split("|"))
    ]


def why_unmet(requirement: str, layers: Iterable[Layer]) -> str:
    """Why a requirement is not met, layer by layer: `landlock (this kernel has none)`."""
    wanted = requirement.split("|")
    return " and ".join(
        f"{layer.name} ({layer.detail})"
        for layer in layers
        if layer.name in wanted and not layer.holds
    )


def mode_of(layers: Iterable[Layer]) -> str:
    """The strictest mode whose requirements these layers meet."""
    held = {layer.name for layer in layers if layer.holds}
    return next(mode for mode, wanted in REQUIREMENTS.items() if not unmet(wanted, held))


def clean_environment() -> dict[str, str]:
    """The environment of processes that handle strangers' files: no secret of the server is in it."""
    here = str(Path(__file__).resolve().parents[2])
    inherited = os.environ.get("PYTHONPATH", "")
    temporary = {"TMPDIR": os.environ["TMPDIR"]} if os.environ.get("TMPDIR") else {}
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "LANG": "C.UTF-8",
        "PYTHONPATH": os.pathsep.join(part for part in (here, inherited) if part),
        **temporary,
    }
