"""A filter of system calls for the process that runs the engine.

The filter allows what it does not name: the engine's needs differ between C libraries, and a conversion
that dies on a new but harmless call would help nobody. What it names is in `syscalls`. It needs no
privilege and cannot be undone by the process that installs it.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
from collections.abc import Sequence

from loader.engine.syscalls import CONDITIONAL, DENIED, NEWEST, Numbers

_PR_SET_NO_NEW_PRIVS = 38
_PR_SET_SECCOMP = 22
_SECCOMP_MODE_FILTER = 2

# Instructions of the classic BPF machine (linux/bpf_common.h) and the filter's answers (linux/seccomp.h).
_LOAD, _EQUAL, _ABOVE, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x25, 0x35, 0x45, 0x06
_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
# Offsets in struct seccomp_data; both machines are little-endian, so an argument's low half comes first.
_NUMBER, _MACHINE, _ARGUMENT, _SECOND_ARGUMENT = 0, 4, 16, 24

_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""`platform.machine()` to its column in `syscalls` and its AUDIT_ARCH value."""
_X32_BIT = 0x40000000
"""On x86_64, numbers from here on are a second table of the same calls."""
_CLONE_THREAD, _CLONE_NAMESPACES = 0x00010000, 0x7E020000
_SIGNALS_OF_FILES = (8, 10, 15)
"""F_SETOWN, F_SETSIG, F_SETOWN_EX: a file can be made to send any signal to any process of the same user."""
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE = 1, 4

_CAPABILITY_VERSION_3 = 0x20080522

Instruction = tuple[int, int, int, int]
"""Code, jump if true, jump if false, operand."""

Rule = tuple[Numbers, list[Instruction]]
"""A call, and what decides about it: instructions that end with an answer whatever happens."""

_libc = ctypes.CDLL(None, use_errno=True)


class _Program(ctypes.Structure):
    """struct sock_fprog."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


def prctl(option: int, *arguments: int) -> int:
    """Asks the kernel to change something about this process (prctl, section 2 of the manual).

    Raises:
        OSError: with the kernel's error number.
    """
    padded = [ctypes.c_ulong(value) for value in (*arguments, 0, 0, 0, 0)[:4]]
    result = int(_libc.prctl(ctypes.c_int(option), *padded))
    if result < 0:
        raise OSError(ctypes.get_errno(), f"prctl({option}): {os.strerror(ctypes.get_errno())}")
    return result


def forbid_new_privileges() -> None:
    """Makes setuid programs and file capabilities ineffective for this process, for good.

    Raises:
        OSError: when the kernel refuses.
    """
    prctl(_PR_SET_NO_NEW_PRIVS, 1)


def drop_capabilities() -> None:
    """Gives up every capability of root, also for a process that stays root.

    Raises:
        OSError: when the kernel refuses.
    """
    header = struct.pack("=Ii", _CAPABILITY_VERSION_3, 0)
    if _libc.capset(header, bytes(24)) < 0:
        raise OSError(ctypes.get_errno(), f"capset: {os.strerror(ctypes.get_errno())}")


def supported() -> bool:
    """Whether the filter knows this machine's system calls."""
    return platform.machine() in _MACHINES


def build_filter(machine: str, pid: int, rules: Sequence[Rule] = ()) -> list[Instruction]:
    """The filter for one machine; process `pid` may signal itself (abort needs that) and nobody else.

    The rules come first, so that they can allow what is refused otherwise.

    Raises:
        KeyError: for a machine that is not in the table.
    """
    column, audit = _MACHINES[machine]
    program: list[Instruction] = [
        (_LOAD, 0, 0, _MACHINE),
        (_EQUAL, 1, 0, audit),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
    ]
    if machine == "x86_64":
        program += [(_AT_LEAST, 0, 1, _X32_BIT), (_RETURN, 0, 0, _ERRNO | errno.ENOSYS)]
    program += [(_ABOVE, 0, 1, NEWEST), (_RETURN, 0, 0, _ERRNO | errno.ENOSYS)]
    for numbers, body in rules:
        program += _when(numbers[column], body)
    for numbers in DENIED.values():
        program += _when(numbers[column], [(_RETURN, 0, 0, _ERRNO | errno.EPERM)])
    for name, body in _conditions(pid).items():
        program += _when(CONDITIONAL[name][column], body)
    return [*program, (_RETURN, 0, 0, _ALLOW)]


def _when(number: int | None, body: list[Instruction]) -> list[Instruction]:
    """Runs `body`, which returns, for one call number."""
    return [] if number is None else [(_EQUAL, 0, len(body), number), *body]


def _conditions(pid: int) -> dict[str, list[Instruction]]:
    """What decides about each call of `CONDITIONAL`."""
    refuse, allow = (_RETURN, 0, 0, _ERRNO | errno.EPERM), (_RETURN, 0, 0, _ALLOW)
    first = (_LOAD, 0, 0, _ARGUMENT)

    def only(value: int) -> list[Instruction]:
        return [first, (_EQUAL, 0, 1, value), allow, refuse]

    return {
        # Threads are the engine's bread and butter; other processes are not.
        "clone": [
            first,
            (_ANY_BIT, 2, 0, _CLONE_NAMESPACES),
            (_ANY_BIT, 0, 1, _CLONE_THREAD),
            allow,
            refuse,
        ],
        "fcntl": [
            (_LOAD, 0, 0, _SECOND_ARGUMENT),
            *(
                (_EQUAL, len(_SIGNALS_OF_FILES) - at, 0, command)
                for at, command in enumerate(_SIGNALS_OF_FILES)
            ),
            allow,
            refuse,
        ],
        # Its flags lie in memory, which a filter can't read; the C library then falls back to clone.
        "clone3": [(_RETURN, 0, 0, _ERRNO | errno.ENOSYS)],
        "kill": only(pid),
        "tgkill": only(pid),
        "prlimit64": only(0),
        # Otherwise the process could outlive its parent, or open its memory to others.
        "prctl": [
            first,
            (_EQUAL, 1, 0, _PR_SET_PDEATHSIG),
            (_EQUAL, 0, 1, _PR_SET_DUMPABLE),
            refuse,
            allow,
        ],
    }


def install(pid: int, rules: Sequence[Rule] = ()) -> None:
    """Puts the filter on this process (all its later threads inherit it); see `build_filter`.

    Raises:
        OSError: ENOSYS on a machine without a table, or the kernel's own refusal.
    """
    machine = platform.machine()
    if not supported():
        raise OSError(errno.ENOSYS, f"no system call table for {machine}")
    install_program(build_filter(machine, pid, rules))


def install_program(instructions: list[Instruction]) -> None:
    """Puts any filter on this process.

    Raises:
        OSError: the kernel refuses it.
    """
    code = b"".join(struct.pack("=HBBI", *instruction) for instruction in instructions)
    buffer = ctypes.create_string_buffer(code, len(code))
    program = _Program(len(code) // 8, ctypes.addressof(buffer))
    prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.addressof(program))


__all__ = [
    "Instruction",
    "Numbers",
    "Rule",
    "build_filter",
    "drop_capabilities",
    "forbid_new_privileges",
    "install",
    "install_program",
    "prctl",
    "supported",
]
