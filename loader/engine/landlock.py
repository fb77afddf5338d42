"""Landlock: the kernel's own list of the paths that a process may touch, needing no privilege.

Linux has it since 5.13, if it was built and switched on; gVisor has not. The engine may write beneath its
job's directory and read the system's libraries and Python's packages; everything else is refused,
also what the user it runs as could otherwise read.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import stat
import sysconfig

# The same numbers on every machine (asm-generic), as for all calls since Linux 5.1.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_GET_VERSION = 1
_RULE_PATH_BENEATH = 1

# Rights of linux/landlock.h.
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REMOVE_FILE, _MAKE_REGULAR, _TRUNCATE = 1 << 5, 1 << 8, 1 << 14
_FILE_RIGHTS = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE
_ALL_RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
"""First interface version to the file rights that it knows."""
_TCP_SINCE, _TCP_RIGHTS = 4, 0b11
_SCOPES_SINCE, _SCOPES = 6, 0b11

_READ = _READ_FILE | _READ_DIR | _EXECUTE
_LOOK = _READ_FILE | _READ_DIR
_JOB = _LOOK | _WRITE_FILE | _REMOVE_FILE | _MAKE_REGULAR | _TRUNCATE

_SYSTEM_PATHS = (
    "/usr",
    "/lib",
    "/lib64",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/dev/urandom",
    "/proc/self",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/sys/vm",
    "/sys/devices/system",
)

_PACKAGE_FOLDERS = ("stdlib", "platstdlib", "purelib", "platlib")
READABLE_PATHS = _SYSTEM_PATHS + tuple(sysconfig.get_paths()[name] for name in _PACKAGE_FOLDERS)
"""What the engine and Python read while they run: libraries, packages, facts about the machine. Found out at
import, because Python reads files of its own for it."""

_libc = ctypes.CDLL(None, use_errno=True)


class _Ruleset(ctypes.Structure):
    """struct landlock_ruleset_attr."""

    _fields_ = (
        ("files", ctypes.c_uint64),
        ("network", ctypes.c_uint64),
        ("scoped", ctypes.c_uint64),
    )


class _PathRule(ctypes.Structure):
    """struct landlock_path_beneath_attr, which the kernel declares packed."""

    _pack_ = 1
    _fields_ = (("rights", ctypes.c_uint64), ("folder", ctypes.c_int32))


def _call(number: int, *arguments: ctypes.c_void_p | ctypes.c_size_t | ctypes.c_long) -> int:
    result = int(_libc.syscall(ctypes.c_long(number), *arguments))
    if result < 0:
        raise OSError(ctypes.get_errno(), f"landlock: {os.strerror(ctypes.get_errno())}")
    return result


def version() -> int:
    """The kernel's Landlock interface; 0 when it has none or it is switched off."""
    with contextlib.suppress(OSError):
        return _call(
            _CREATE_RULESET, ctypes.c_void_p(), ctypes.c_size_t(0), ctypes.c_long(_GET_VERSION)
        )
    return 0


def restrict(job_directory: int, program: int | None = None) -> None:
    """Confines this process. Needs `seccomp.forbid_new_privileges` first.

    Args:
        job_directory: descriptor of the one folder that it may write in.
        program: descriptor of the program that it is about to become, if any; it may then write nowhere.

    Raises:
        OSError: when the kernel has no Landlock, or refuses.
    """
    known = version()
    if known == 0:
        raise OSError("this kernel has no Landlock, or it is switched off")
    rights = max(value for since, value in _ALL_RIGHTS.items() if since <= known)
    attributes = _Ruleset(
        rights,
        _TCP_RIGHTS if known >= _TCP_SINCE else 0,
        _SCOPES if known >= _SCOPES_SINCE else 0,
    )
    pointer = ctypes.c_void_p(ctypes.addressof(attributes))
    size = ctypes.c_size_t(
        ctypes.sizeof(attributes) if known >= _SCOPES_SINCE else _old_size(known)
    )
    ruleset = _call(_CREATE_RULESET, pointer, size, ctypes.c_long(0))
    try:
        _allow(ruleset, job_directory, (_JOB if program is None else _LOOK) & rights)
        if program is not None:
            _allow(ruleset, program, _READ_FILE | _EXECUTE)
        for path in READABLE_PATHS:
            # What isn't there, or can't be reached by this user anyway, needs no permission.
            with contextlib.suppress(FileNotFoundError, PermissionError):
                _allow_path(ruleset, path, _READ & rights)
        _allow_path(ruleset, "/dev/null", (_READ_FILE | _WRITE_FILE) & rights)
        _call(_RESTRICT_SELF, ctypes.c_void_p(ruleset), ctypes.c_size_t(0))
    finally:
        os.close(ruleset)


def _old_size(known: int) -> int:
    """Bytes of the attributes that a kernel before the scopes reads."""
    return 16 if known >= _TCP_SINCE else 8


def _allow_path(ruleset: int, path: str, rights: int) -> None:
    folder = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if not stat.S_ISDIR(os.fstat(folder).st_mode):
            rights &= _FILE_RIGHTS
        _allow(ruleset, folder, rights)
    finally:
        os.close(folder)


def _allow(ruleset: int, folder: int, rights: int) -> None:
    rule = _PathRule(rights, folder)
    _call(
        _ADD_RULE,
        ctypes.c_void_p(ruleset),
        ctypes.c_size_t(_RULE_PATH_BENEATH),
        ctypes.c_void_p(ctypes.addressof(rule)),
        ctypes.c_long(0),
    )
