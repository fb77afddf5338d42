"""The forked process that becomes xprof-rs: confined first, so that the program never runs outside.

xprof-rs is a server, and the filter of system calls lets no conversion have a socket. It gets along with
less: `socket` always answers 0, the number of the listening socket that this process was given
(`loader.engine.rs_line`), and what a server then does to a new socket succeeds without happening. It can
accept the one connection that gets through, and neither make nor reach any other.
"""

from __future__ import annotations

import errno
import fcntl
import os
import traceback
from collections.abc import Collection
from dataclasses import dataclass, replace

from loader.engine.base import Limits
from loader.engine.sandbox import LAYERS, OPEN_FILES, Cage, harden, unmet
from loader.engine.seccomp import Instruction, Rule
from loader.engine.settle import settle
from loader.engine.syscalls import DENIED, SERVER

_NEEDED_LAYERS = ("limits", "no_new_privileges", "system_calls")
"""What its sockets and its one start rest on, whatever weaker mode the worker accepts."""

# As in `seccomp`: the classic BPF machine, the filter's answers, offsets of arguments in the call's data.
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_FIRST_ARGUMENT, _FIFTH_ARGUMENT = 16, 48

_PROGRAM_FD = OPEN_FILES
"""Where the program waits to be started; closed by the start, and out of reach afterwards."""


@dataclass(frozen=True)
class Start:
    """What the process needs to know.

    Attributes:
        directory: the job's directory, which it may read.
        limits: of the conversion.
        uid: user to become, or None.
        parent: process id of the zygote.
        required: what must hold around it, as in `sandbox.REQUIREMENTS`.
        program: descriptor of the program's file.
    """

    directory: os.PathLike[str]
    limits: Limits
    uid: int | None
    parent: int
    required: Collection[str]
    program: int


def run(start: Start, listener: int, log_pipe: int) -> None:
    """Becomes the program, or ends the process.

    Args:
        start: see there.
        listener: descriptor of its listening socket.
        log_pipe: descriptor for all that it prints.
    """
    try:
        settle([listener, log_pipe, log_pipe, start.program])
        fcntl.fcntl(3, fcntl.F_DUPFD_CLOEXEC, _PROGRAM_FD)
        os.close(3)
        confine(start)
        # An environment of its own: nothing of the server's, and no cache folder that it could write.
        os.execve(_PROGRAM_FD, ["xprof-rs"], {"LANG": "C.UTF-8"})  # noqa: S606
    finally:
        traceback.print_exc()
        os._exit(1)


def confine(start: Start) -> None:
    """Confines this process to reading the job's directory and answering on its listening socket.

    Raises:
        PermissionError: a layer that must hold does not.
    """
    directory = os.open(start.directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    os.fchdir(directory)
    limits = replace(start.limits, output_bytes=0)
    cage = Cage(directory, limits, start.uid, start.parent, _PROGRAM_FD, rules())
    held = set(LAYERS).difference(harden(cage))
    os.close(directory)
    if lacking := unmet((*_NEEDED_LAYERS, *start.required), held):
        raise PermissionError(f"sandbox layers are missing: {', '.join(lacking)}")


def rules() -> list[Rule]:
    """What the filter of system calls says of a server that may have one connection."""
    allow, refuse = (_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _ERRNO | errno.EPERM)
    pretend: list[Instruction] = [(_RETURN, 0, 0, _ERRNO | 0)]
    no_link: list[Instruction] = [(_RETURN, 0, 0, _ERRNO | errno.EINVAL)]
    start_once: list[Instruction] = [
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        (_EQUAL, 0, 1, _PROGRAM_FD),
        allow,
        refuse,
    ]
    # A destination would connect a socket on the way, whatever becomes of `connect`.
    without_destination: list[Instruction] = [
        (_LOAD, 0, 0, _FIFTH_ARGUMENT),
        (_EQUAL, 0, 3, 0),
        (_LOAD, 0, 0, _FIFTH_ARGUMENT + 4),
        (_EQUAL, 0, 1, 0),
        allow,
        refuse,
    ]
    return [
        *((DENIED[name], pretend) for name in ("socket", "bind", "listen")),
        (SERVER["setsockopt"], pretend),
        *((DENIED[name], [allow]) for name in ("accept", "accept4")),
        (SERVER["sendto"], without_destination),
        *((SERVER[name], [refuse]) for name in ("sendmsg", "sendmmsg")),
        (DENIED["execveat"], start_once),
        # It would replace `/proc/self/cwd` by the path behind it, which its user may not be able to walk.
        *((SERVER[name], no_link) for name in ("readlink", "readlinkat")),
    ]
