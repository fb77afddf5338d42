"""What a profile that took over the engine would try, grouped by the layer of the sandbox that must stop it.

Every attempt either does what it is named after and returns, or is refused with an `OSError`. An attempt
that gets through does no harm: it signals nobody, stops nobody, and touches only files that
`loader.engine.selftest` laid out for it. Without any sandbox nearly all of them get through (a test makes
sure of that), so a refusal proves something.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import mmap
import os
import resource
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from loader.engine import seccomp
from loader.engine.base import Limits

TRIAL_LIMITS = Limits(seconds=20, memory_bytes=1 << 30, output_bytes=1 << 20)
"""Limits of the process that makes the attempts."""

INPUT = "host.xplane.pb"
"""The one file in the trial's job directory that belongs to the server, as profiles do."""

OWN_FILES = ("own", "to replace", "to move")
"""Files in the trial's job directory that belong to the trial."""

_libc = ctypes.CDLL(None, use_errno=True)
_libc.process_vm_readv.restype = ctypes.c_ssize_t
_PR_GET_NO_NEW_PRIVS, _PR_SET_DUMPABLE = 39, 4
_PTRACE_SEIZE, _PTRACE_DETACH = 0x4206, 17
_CLONE_NEWUSER = 0x10000000
_IO_URING_SETUP, _PIDFD_OPEN = 425, 434
_IO_URING_BYTES = 120
_F_SETOWN = 8
_MOST_FILES = 512
_MARK = ctypes.create_string_buffer(b"the same address in parent and child")


@dataclass(frozen=True)
class Surroundings:
    """What lies around the process that makes the attempts.

    Attributes:
        outside: a folder of the server's beside the job's own, which everybody may walk through. It holds
            `kept` and `gone` (files), `everyone` (a folder that all may write in) and `other` (the private
            folder of another job, with the file `answer` in it).
        parents: process ids of the zygote and of the server above it.
    """

    outside: Path
    parents: tuple[int, ...]


Attempt = Callable[[Surroundings], object]


def _check(result: int) -> None:
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _open_by_number(number: int, *arguments: int) -> None:
    """A system call that gives a descriptor, which is closed again."""
    values = [ctypes.c_long(value) for value in arguments]
    descriptor = int(_libc.syscall(ctypes.c_long(number), *values))
    _check(descriptor)
    os.close(descriptor)


def _use_io_uring(_around: Surroundings) -> None:
    parameters = ctypes.create_string_buffer(_IO_URING_BYTES)
    _open_by_number(_IO_URING_SETUP, 1, ctypes.addressof(parameters))


def _each_parent(attempt: Callable[[int], object]) -> Attempt:
    """Gets through when it does with any of the processes above."""

    def try_all(around: Surroundings) -> None:
        refusal: OSError | None = None
        for pid in around.parents:
            try:
                attempt(pid)
            except OSError as error:
                refusal = error
            else:
                return
        if refusal is not None:
            raise refusal

    return try_all


def _open_socket(family: int, kind: int = socket.SOCK_STREAM) -> Attempt:
    return lambda _around: socket.socket(family, kind).close()


def _fork(_around: Surroundings) -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


def _execute(_around: Surroundings) -> None:
    """A program that is not there: the name is looked up only when executing is allowed at all."""
    try:
        os.execv("/nonexistent/program", ["program"])  # noqa: S606 - nothing is started
    except FileNotFoundError:
        return


def _trace(pid: int) -> None:
    # Seizing, unlike attaching, does not stop the process.
    _check(int(_libc.ptrace(_PTRACE_SEIZE, pid, 0, 0)))
    _libc.ptrace(_PTRACE_DETACH, pid, 0, 0)


def _read_memory(pid: int) -> None:
    class Span(ctypes.Structure):
        _fields_ = (("start", ctypes.c_void_p), ("length", ctypes.c_size_t))

    ours = ctypes.create_string_buffer(4)
    here, there = Span(ctypes.addressof(ours), 4), Span(ctypes.addressof(_MARK), 4)
    _check(int(_libc.process_vm_readv(pid, ctypes.byref(here), 1, ctypes.byref(there), 1, 0)))


def _file_that_signals(pid: int) -> None:
    """A file can be told to send a signal of one's choice to a process when something happens to it."""
    reader, writer = os.pipe()
    try:
        fcntl.fcntl(reader, _F_SETOWN, pid)
    finally:
        os.close(reader)
        os.close(writer)


def _limit_parent(pid: int) -> None:
    resource.prlimit(pid, resource.RLIMIT_CORE, resource.prlimit(pid, resource.RLIMIT_CORE))


def _raise_limit(_around: Surroundings) -> None:
    limit = TRIAL_LIMITS.output_bytes * 2
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    except ValueError as error:  # how this module reports a refusal
        raise PermissionError(errno.EPERM, "refused") from error


def _large_file(_around: Surroundings) -> None:
    with Path("large").open("wb") as file:
        os.ftruncate(file.fileno(), TRIAL_LIMITS.output_bytes + 1)


def _many_files(_around: Surroundings) -> None:
    os.close(fcntl.fcntl(0, fcntl.F_DUPFD, _MOST_FILES))


def _huge_memory(_around: Surroundings) -> None:
    size = 8 * TRIAL_LIMITS.memory_bytes + (8 << 30)
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    mmap.mmap(-1, size, flags=flags, prot=mmap.PROT_READ).close()


def _leave_core(_around: Surroundings) -> None:
    if resource.getrlimit(resource.RLIMIT_CORE)[1] == 0:
        raise PermissionError(errno.EPERM, "the limit is 0")


def _endless_time(_around: Surroundings) -> None:
    if resource.getrlimit(resource.RLIMIT_CPU)[1] != resource.RLIM_INFINITY:
        raise PermissionError(errno.EPERM, "there is a limit")


def _gain_privileges(_around: Surroundings) -> None:
    if seccomp.prctl(_PR_GET_NO_NEW_PRIVS) == 1:
        raise PermissionError(errno.EPERM, "the kernel promises not to give any")


def _have_capabilities(_around: Surroundings) -> None:
    rows = Path("/proc/self/status").read_text().splitlines()
    sets = dict(row.split(":\t") for row in rows if row.startswith(("CapEff", "CapPrm")))
    if not any(int(value, 16) for value in sets.values()):
        raise PermissionError(errno.EPERM, "it has none")


def _stay_who_it_is(_around: Surroundings) -> None:
    if 0 not in (*os.getresuid(), *os.getresgid()) and not os.getgroups():
        raise PermissionError(errno.EPERM, "it is nobody's user")


def _through_descriptor(around: Surroundings) -> None:
    """A name that leads out by way of the kernel's own links."""
    folder = os.open(around.outside, os.O_PATH | os.O_DIRECTORY)
    try:
        (Path(f"/proc/self/fd/{folder}") / "new-file").write_bytes(b"x")
    finally:
        os.close(folder)


SYSTEM_CALLS: Mapping[str, Attempt] = {
    "open a TCP socket": _open_socket(socket.AF_INET),
    "open a UDP socket": _open_socket(socket.AF_INET6, socket.SOCK_DGRAM),
    "open a local socket": _open_socket(socket.AF_UNIX),
    "open a pair of sockets": lambda _: socket.socketpair(),
    "open a socket to the kernel": _open_socket(socket.AF_NETLINK, socket.SOCK_RAW),
    "open a socket to the hypervisor": _open_socket(getattr(socket, "AF_VSOCK", 40)),
    "use io_uring": _use_io_uring,
    "start a process": _fork,
    "execute a program": _execute,
    "signal the parent": _each_parent(lambda pid: os.kill(pid, 0)),
    "signal everybody": lambda _: os.kill(-1, 0),
    "have a file signal the parent": _each_parent(_file_that_signals),
    "hold the parent": _each_parent(lambda pid: _open_by_number(_PIDFD_OPEN, pid, 0)),
    "slow the parent down": _each_parent(
        lambda pid: os.setpriority(os.PRIO_PROCESS, pid, os.getpriority(os.PRIO_PROCESS, pid))
    ),
    "limit the parent": _each_parent(_limit_parent),
    "trace the parent": _each_parent(_trace),
    "make a symbolic link": lambda _: Path("symbolic").symlink_to("/etc/passwd"),
    "make a hard link": lambda _: Path("hard").hardlink_to("own"),
    "make a pipe with a name": lambda _: os.mkfifo("pipe"),
    "change a file's rights": lambda _: Path("own").chmod(0o666),
    "change a file's times outside": lambda around: os.utime(around.outside / "kept"),
    "open its memory to others": lambda _: seccomp.prctl(_PR_SET_DUMPABLE, 1),
    # Last, for it leads to where no other process is to be seen.
    "make a namespace": lambda _: _check(int(_libc.unshare(_CLONE_NEWUSER))),
}
_SECRETS: Mapping[str, Attempt] = {
    "trace the parent": _each_parent(_trace),
    "read the parent's memory": _each_parent(_read_memory),
    "open the parent's memory": _each_parent(
        lambda pid: Path(f"/proc/{pid}/mem").open("rb").close()
    ),
    "read the parent's environment": _each_parent(
        lambda pid: Path(f"/proc/{pid}/environ").read_bytes()
    ),
}
_FILES_OF_THE_SERVER: Mapping[str, Attempt] = {
    "create a file outside": lambda around: (around.outside / "new").write_bytes(b"x"),
    "change a file outside": lambda around: (around.outside / "kept").open("ab").close(),
    "truncate a file outside": lambda around: os.truncate(around.outside / "kept", 0),
    "replace a file outside": lambda around: Path("to replace").rename(around.outside / "kept"),
    "remove a file outside": lambda around: (around.outside / "gone").unlink(),
    "list another job": lambda around: list((around.outside / "other").iterdir()),
    "read another job": lambda around: (around.outside / "other" / "answer").read_bytes(),
    "create a file outside through a descriptor": _through_descriptor,
}
OWN_USER: Mapping[str, Attempt] = {
    "stay who it is": _stay_who_it_is,
    "become root": lambda _: os.setresuid(0, 0, 0),
    "signal the parent": _each_parent(lambda pid: os.kill(pid, 0)),
    "change the input": lambda _: Path(INPUT).open("ab").close(),
    "make the input changeable": lambda _: Path(INPUT).chmod(0o666),
    **_SECRETS,
    **_FILES_OF_THE_SERVER,
}
LANDLOCK: Mapping[str, Attempt] = {
    "read a file outside": lambda around: (around.outside / "kept").read_bytes(),
    "list a folder outside": lambda around: list(around.outside.iterdir()),
    "read a file that all may read": lambda _: Path("/etc/passwd").read_bytes(),
    "create a file where all may": lambda around: (around.outside / "everyone" / "new").touch(),
    "move a file to where all may": lambda around: Path("to move").rename(
        around.outside / "everyone" / "moved"
    ),
    "make a folder where all may": lambda around: (around.outside / "everyone" / "folder").mkdir(),
    "see the parent's files": _each_parent(lambda pid: list(Path(f"/proc/{pid}/root").iterdir())),
    **_SECRETS,
    **_FILES_OF_THE_SERVER,
}
LIMITS: Mapping[str, Attempt] = {
    "write a large file": _large_file,
    "open many files": _many_files,
    "reserve huge memory": _huge_memory,
    "leave a core dump": _leave_core,
    "use endless processor time": _endless_time,
    "raise its own limit": _raise_limit,
}
NO_NEW_PRIVILEGES: Mapping[str, Attempt] = {
    "gain privileges": _gain_privileges,
    "have capabilities": _have_capabilities,
}

ATTEMPTS: Mapping[str, Mapping[str, Attempt]] = {
    "limits": LIMITS,
    "no_new_privileges": NO_NEW_PRIVILEGES,
    "own_user": OWN_USER,
    "system_calls": SYSTEM_CALLS,
    "landlock": LANDLOCK,
}
"""Layer of `loader.engine.sandbox` to what it must stop."""


def successes(attempts: Mapping[str, Attempt], around: Surroundings) -> list[str]:
    """Names of the attempts that were not refused."""
    through = []
    for name, attempt in attempts.items():
        try:
            attempt(around)
        except OSError:
            continue
        through.append(name)
    return through
