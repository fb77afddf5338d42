"""Runs a program as on a poorer machine: `python -m tests.hostile.poorer_machine UID LACK,... PROGRAM ...`.

UID `-` stays who it is; otherwise (root only) the program runs as that user, without capabilities or other
groups and with no new privileges, as in a container of the common kind. LACK is any of `landlock` and
`seccomp`, or `-`: the kernel then answers those calls as one without them does; with `pretended` it says
yes to both and does nothing. This uses the kernel's own
filter, so the program meets the lack where it would meet a real one.

Where the user could not read this checkout or its Python, the program gets a user namespace in which it is
that user and outside of which it owns what we own: a plain user with files of its own.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import sys
from pathlib import Path

from loader.engine import seccomp

_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_DO_NOTHING = (_RETURN, 0, 0, _ERRNO)
"""An error of number 0 is success."""
_NUMBER, _ARGUMENT = 0, 16
_LANDLOCK = (444, 445, 446)
_PRCTL = {"x86_64": 157, "aarch64": 167}
_SECCOMP = {"x86_64": 317, "aarch64": 277}
_PR_SET_SECCOMP = 22
_CLONE_NEWUSER = 0x10000000


def lacking(lacks: set[str]) -> list[seccomp.Instruction]:
    """A filter that answers what is lacking as a kernel without it."""
    program: list[seccomp.Instruction] = [(_LOAD, 0, 0, _NUMBER)]
    if "pretended" in lacks:
        for number in _LANDLOCK[1:]:
            program += [(_EQUAL, 0, 1, number), _DO_NOTHING]
        program += _when_filtering([_DO_NOTHING])
    if "landlock" in lacks:
        for number in _LANDLOCK:
            program += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ERRNO | errno.ENOSYS)]
    if "seccomp" in lacks:
        program += [
            (_EQUAL, 0, 1, _SECCOMP[platform.machine()]),
            (_RETURN, 0, 0, _ERRNO | errno.ENOSYS),
            *_when_filtering([(_RETURN, 0, 0, _ERRNO | errno.EINVAL)]),
        ]
    return [*program, (_RETURN, 0, 0, _ALLOW)]


def _when_filtering(answer: list[seccomp.Instruction]) -> list[seccomp.Instruction]:
    """Answers a prctl that would put a filter on; afterwards the number of the call is loaded again."""
    return [
        (_EQUAL, 0, 2 + len(answer) + 1, _PRCTL[platform.machine()]),
        (_LOAD, 0, 0, _ARGUMENT),
        (_EQUAL, 0, len(answer), _PR_SET_SECCOMP),
        *answer,
        (_LOAD, 0, 0, _NUMBER),
    ]


def _all_may_read_us() -> bool:
    places = (Path(sys.executable).resolve(), Path(sys.prefix).resolve(), Path(__file__).resolve())
    return all(parent.stat().st_mode & 0o001 for place in places for parent in place.parents)


def owner_for(uid: int) -> int:
    """Who, in our eyes, owns the files of a program that this module runs as `uid`."""
    return uid if _all_may_read_us() else os.geteuid()


def become(uid: int) -> None:
    """Changes the user for good."""
    if _all_may_read_us():
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    else:
        ours = os.geteuid(), os.getegid()
        if ctypes.CDLL(None).unshare(_CLONE_NEWUSER) != 0:
            raise SystemExit("this machine allows no user namespaces")
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{uid} {ours[0]} 1")
        Path("/proc/self/gid_map").write_text(f"{uid} {ours[1]} 1")
        # Not root inside, so that the program that is started keeps none of the namespace's capabilities.
    seccomp.drop_capabilities()
    seccomp.forbid_new_privileges()


def main() -> None:
    uid, lacks, *command = sys.argv[1:]
    program = lacking(set(lacks.split(",")))
    if uid != "-":
        become(int(uid))
    seccomp.install_program(program)
    os.execv(command[0], command)


if __name__ == "__main__":
    main()
