"""Does what a profile that took over xprof-rs would do: `python -m tests.hostile.rs_break_out JOB OUTSIDE`.

The process wears what xprof-rs wears, and the program in its place is this interpreter. Prints one JSON
object: attempt to `done` or the name of the error.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from loader.engine.base import Limits
from loader.engine.rs_line import open_line
from loader.engine.rs_program import Start, confine
from loader.engine.sandbox import FIRST_UID, OPEN_FILES

LIMITS = Limits(seconds=20, memory_bytes=1 << 30, output_bytes=1 << 20)
MSG_FASTOPEN = 0x20000000
AT_EMPTY_PATH = 0x1000
EXECVEAT = {"x86_64": 322, "aarch64": 281}[os.uname().machine]

libc = ctypes.CDLL(None, use_errno=True)


def call(result: int) -> None:
    if result < 0:
        raise OSError(ctypes.get_errno(), "")


def execute_by_descriptor(number: int) -> None:
    arguments = (ctypes.c_char_p * 2)(b"x", None)
    call(libc.syscall(EXECVEAT, number, b"", arguments, None, AT_EMPTY_PATH))


def start_again(program: int) -> None:
    """What an attacker would need: a descriptor with the one number that may be started."""
    os.close(OPEN_FILES)
    os.dup2(program, OPEN_FILES)
    execute_by_descriptor(OPEN_FILES)


def run_thread() -> None:
    thread = threading.Thread(target=lambda: None)
    thread.start()
    thread.join()


def attempts(
    listener: socket.socket, elsewhere: tuple[str, int], outside: Path
) -> dict[str, Callable[[], object]]:
    kept = []

    def new_socket() -> socket.socket:
        kept.append(socket.socket(fileno=libc.socket(socket.AF_INET, socket.SOCK_STREAM, 0)))
        return kept[-1]

    def send_on_the_way() -> object:
        listener.shutdown(socket.SHUT_RDWR)
        return listener.sendto(b"x", MSG_FASTOPEN, elsewhere)

    return {
        # What xprof-rs needs.
        "read the input": lambda: Path("vm.xplane.pb").read_bytes(),
        "read the input by way of the process": lambda: Path(
            "/proc/self/cwd/vm.xplane.pb"
        ).read_bytes(),
        "start a thread": run_thread,
        "accept the connection": listener.accept,
        # What it must not have.
        "write in the job": lambda: Path("mine").write_text("x"),
        "read outside": (outside / "secret").read_bytes,
        "write outside": lambda: (outside / "everyone" / "evil").write_text("x"),
        "connect": lambda: new_socket().connect(elsewhere),
        "connect by sending": send_on_the_way,
        "send a message": lambda: new_socket().sendmsg([b"x"], [], 0, elsewhere),
        "make a pair of sockets": socket.socketpair,
        "fork": os.fork,
        "execute": lambda: os.execv(sys.executable, [sys.executable, "-c", ""]),
        "execute by descriptor": lambda: execute_by_descriptor(0),
        "start the program again": lambda: start_again(os.open("/usr/bin/env", os.O_RDONLY)),
        "become root": lambda: os.setuid(0),
    }


def confined(job: Path, outside: Path, uid: int | None) -> dict[str, str]:
    signal.alarm(30)
    elsewhere = socket.create_server(("127.0.0.1", 0))
    listener, client = open_line()
    os.dup2(listener.fileno(), 0)
    on_zero = socket.socket(fileno=0)
    program = os.open(sys.executable, os.O_RDONLY)
    fcntl.fcntl(program, fcntl.F_DUPFD_CLOEXEC, OPEN_FILES)
    tries = attempts(on_zero, elsewhere.getsockname(), outside)
    confine(Start(job, LIMITS, uid, os.getppid(), (), program))
    outcome = {}
    for name, attempt in tries.items():
        try:
            attempt()
        except OSError as error:
            outcome[name] = errno.errorcode.get(error.errno or 0, "error")
        else:
            outcome[name] = "done"
    client.close()
    return outcome


def main() -> None:
    uid = FIRST_UID if os.geteuid() == 0 else None
    reader, writer = os.pipe()
    if os.fork() == 0:
        try:
            outcome = confined(Path(sys.argv[1]), Path(sys.argv[2]), uid)
            os.write(writer, json.dumps(outcome).encode())
        finally:
            os._exit(0)
    os.close(writer)
    sys.stdout.write(os.fdopen(reader).read())
    os.wait()


if __name__ == "__main__":
    main()
