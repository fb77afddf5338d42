"""Tries to get out of the sandbox.

Run as `python -m tests.hostile.break_out JOB OUTSIDE SERVER_UID CHILD_UID [no-landlock]`. This process
stands for the server and becomes SERVER_UID. Its child confines itself like a conversion, as CHILD_UID or,
with `-`, as the same user, and then does what a profile that took over the engine would do. Prints one
JSON object: attempt to `done` or the name of the error.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import json
import os
import resource
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path

from loader.engine import landlock
from loader.engine.base import Limits
from loader.engine.sandbox import Cage, harden, hide_memory

LIMITS = Limits(seconds=20, memory_bytes=1 << 30, output_bytes=1 << 20)
PTRACE_ATTACH = 16
CLONE_NEWUSER = 0x10000000
PR_SET_DUMPABLE = 4
F_SETOWN, F_SETSIG = 8, 10
NEWER_CALL = 463
"""setxattrat, of Linux 6.13."""

libc = ctypes.CDLL(None, use_errno=True)


def call(result: int) -> None:
    if result < 0:
        raise OSError(ctypes.get_errno(), "")


def io_uring() -> None:
    call(libc.syscall(425, 1, ctypes.create_string_buffer(256)))


def run_thread() -> None:
    thread = threading.Thread(target=lambda: None)
    thread.start()
    thread.join()


def attempts(outside: Path) -> dict[str, Callable[[], object]]:
    parent = os.getppid()
    secret, folder = outside / "secret", outside / "everyone"
    return {
        # What a conversion needs.
        "write in the job": lambda: Path("mine").write_text("x"),
        "read the input": lambda: Path("vm.xplane.pb").read_bytes(),
        "start a thread": run_thread,
        # What it must not have.
        "open a socket": lambda: socket.socket().close(),
        "open a local socket": socket.socketpair,
        "open a socket to the hypervisor": lambda: socket.socket(40, socket.SOCK_STREAM),
        "fork": os.fork,
        "execute": lambda: os.execv(sys.executable, [sys.executable, "-c", ""]),
        "signal the parent": lambda: os.kill(parent, 0),
        "signal everyone": lambda: os.kill(-1, 0),
        "trace the parent": lambda: call(libc.ptrace(PTRACE_ATTACH, parent, 0, 0)),
        "read the parent's environment": lambda: Path(f"/proc/{parent}/environ").read_bytes(),
        "open the parent's memory": lambda: Path(f"/proc/{parent}/mem").open("rb"),
        "have a file signal the parent": lambda: fcntl.fcntl(0, F_SETOWN, parent),
        "choose the signal of a file": lambda: fcntl.fcntl(0, F_SETSIG, signal.SIGKILL),
        "slow the parent down": lambda: os.setpriority(os.PRIO_PROCESS, parent, 0),
        "move the parent to one core": lambda: os.sched_setaffinity(parent, {0}),
        "read the parent's memory": lambda: call(
            libc.process_vm_readv(parent, None, 0, None, 0, 0)
        ),
        "limit the parent": lambda: resource.prlimit(parent, resource.RLIMIT_CORE, (0, 0)),
        "raise its own limit": lambda: resource.setrlimit(resource.RLIMIT_CORE, (1 << 20, 1 << 20)),
        "make its memory readable": lambda: call(libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)),
        "become root": lambda: os.setuid(0),
        "make a namespace": lambda: call(libc.unshare(CLONE_NEWUSER)),
        "use io_uring": io_uring,
        "use a call of a newer kernel": lambda: call(libc.syscall(NEWER_CALL, -1, 0, 0, 0, 0, 0)),
        "make a symbolic link": lambda: Path("link").symlink_to("/etc/passwd"),
        "make a hard link": lambda: Path("hard").hardlink_to("vm.xplane.pb"),
        "make the input writable": lambda: Path("vm.xplane.pb").chmod(0o666),
        "write the input": lambda: Path("vm.xplane.pb").open("ab"),
        "make a device": lambda: os.mknod("pipe", 0o010600),
        "change the times of a file outside": lambda: os.utime(folder),
        "truncate by name": lambda: os.truncate("vm.xplane.pb", 0),
        "write outside": lambda: (folder / "evil").write_text("x"),
        "write outside by a relative path": lambda: Path("../outside/everyone/evil").write_text(
            "x"
        ),
        "read outside": secret.read_bytes,
        "list outside": lambda: list(outside.iterdir()),
    }


def confined(job: int, outside: Path, uid: int | None) -> dict[str, str]:
    signal.alarm(30)
    os.fchdir(job)
    tries = attempts(outside)
    harden(Cage(job, LIMITS, uid, os.getppid()))
    outcome = {}
    for name, attempt in tries.items():
        try:
            attempt()
        except OSError as error:
            outcome[name] = errno.errorcode.get(error.errno or 0, "error")
        except ValueError:
            outcome[name] = "EPERM"  # how the resource module reports it
        else:
            outcome[name] = "done"
    return outcome


def become(uid: int) -> None:
    """Changes the user as a service manager would have done, so that nothing but the sandbox protects us."""
    if uid == os.geteuid():
        return
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    call(libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0))


def main() -> None:
    job = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECTORY)
    become(int(sys.argv[3]))
    if sys.argv[5:] == ["no-landlock"]:
        # As on a kernel without it, where the engine hides the server's memory instead.
        landlock.version = lambda: 0
        hide_memory()
    uid = None if sys.argv[4] == "-" else int(sys.argv[4])
    reader, writer = os.pipe()
    if os.fork() == 0:
        try:
            os.write(writer, json.dumps(confined(job, Path(sys.argv[2]), uid)).encode())
        except BaseException:
            traceback.print_exc()
            raise
        finally:
            os._exit(0)
    os.close(writer)
    sys.stdout.write(os.fdopen(reader).read())
    os.wait()


if __name__ == "__main__":
    main()
