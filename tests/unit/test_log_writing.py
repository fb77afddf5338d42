"""Log lines that nobody reads hold nobody up: they wait or are lost, counted, and stay whole and in order."""

from __future__ import annotations

import fcntl
import io
import json
import logging
import os
import select
import socket
import threading
from collections.abc import Iterator
from contextlib import closing

import pytest

from server.machine.log_writing import LinesBeside, handler_for, lost_lines
from server.metrics.process import Metrics

PIPE_BYTES = 65_536
"""What a pipe of Linux holds (pipe(7))."""


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    """Reading and writing end."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
    yield reader, writer
    os.close(reader)
    os.close(writer)


def say(handler: logging.Handler, text: str) -> None:
    handler.handle(logging.LogRecord("t", logging.INFO, "", 0, text, None, None))


def read_until(reader: int, end: bytes) -> bytes:
    """What comes until something ends so."""
    read = b""
    while not read.endswith(end):
        assert select.select([reader], [], [], 20)[0], f"nothing more came after {read[-200:]!r}"
        read += os.read(reader, PIPE_BYTES)
    return read


def test_a_line_is_written_before_its_caller_goes_on(pipe: tuple[int, int]) -> None:
    reader, writer = pipe
    handler = LinesBeside(writer)
    say(handler, "first")
    say(handler, "zwei \ud800")
    assert os.read(reader, 100) == b"first\nzwei \\ud800\n"
    assert not [thread for thread in threading.enumerate() if thread.name == "log"]


def test_lines_that_nobody_reads_wait_and_come_whole_and_in_order(pipe: tuple[int, int]) -> None:
    reader, writer = pipe
    handler = LinesBeside(writer)
    # Some are longer than what a pipe takes at once or not at all (PIPE_BUF, 4,096 bytes).
    sent = [f"{number:04} {'x' * (number % 7 * 1500)}" for number in range(200)]
    for text in sent:
        say(handler, text)
    say(handler, "end")
    read = read_until(reader, b"end\n")
    assert read.decode().splitlines() == [*sent, "end"]
    assert len(read) > PIPE_BYTES
    assert handler.lost == 0


def test_what_finds_no_place_is_lost_and_told_when_somebody_reads_again(
    pipe: tuple[int, int],
) -> None:
    reader, writer = pipe
    handler = LinesBeside(writer, most_waiting_bytes=50_000)
    line = "y" * 999  # and a line break
    for _ in range(1000):
        say(handler, line)
    lost = handler.lost
    # All but what the pipe holds and what may wait; one line may have begun.
    assert abs(lost - (1000 - (PIPE_BYTES + 50_000) // 1000)) <= 5
    read = read_until(reader, b"log lines were lost\n").decode().splitlines()
    assert read == [line] * (1000 - lost) + [f"{lost} log lines were lost"]


def test_several_threads_lines_stay_whole(pipe: tuple[int, int]) -> None:
    reader, writer = pipe
    handler = LinesBeside(writer)

    def write(name: str) -> None:
        for number in range(100):
            say(handler, f"{name} {number} {name * 2000}")

    threads = [threading.Thread(target=write, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    say(handler, "end")
    *lines, _ = read_until(reader, b"end\n").decode().splitlines()
    for name in "abc":
        own = [line for line in lines if line.startswith(name)]
        assert own == [f"{name} {number} {name * 2000}" for number in range(100)]
    assert len(lines) == 300


def test_whether_others_wait_at_the_same_pipe_stays_as_it_is(pipe: tuple[int, int]) -> None:
    LinesBeside(pipe[1])
    assert os.get_blocking(pipe[1])


def test_the_end_of_the_process_waits_for_a_slow_reader(pipe: tuple[int, int]) -> None:
    reader, writer = pipe
    handler = LinesBeside(writer)
    sent = [f"{number} {'z' * 1000}" for number in range(150)]
    for text in sent:
        say(handler, text)
    read: list[bytes] = []
    thread = threading.Thread(target=lambda: read.append(read_until(reader, b"last\n")))
    thread.start()
    say(handler, "last")
    handler.flush()
    thread.join(20)
    assert read[0].decode().splitlines() == [*sent, "last"]


def test_the_end_of_the_process_does_not_wait_for_who_never_reads(pipe: tuple[int, int]) -> None:
    handler = LinesBeside(pipe[1])
    for _ in range(150):
        say(handler, "z" * 1000)
    done = threading.Thread(target=handler.flush)
    done.start()
    done.join(20)
    assert not done.is_alive()


def test_a_reader_that_has_gone_costs_lines_and_nothing_else() -> None:
    reader, writer = os.pipe()
    handler = LinesBeside(writer)
    os.close(reader)
    say(handler, "nobody hears this")
    say(handler, "nor this")
    assert handler.lost == 2
    os.close(writer)


def test_a_reader_that_goes_while_lines_wait_ends_the_wait() -> None:
    reader, writer = os.pipe()
    handler = LinesBeside(writer, most_waiting_bytes=200_000)
    for _ in range(400):
        say(handler, "w" * 1000)
    assert handler.lost
    os.close(reader)
    handler.flush()
    waiting = [thread for thread in threading.enumerate() if thread.name == "log"]
    for thread in waiting:
        thread.join(20)
    assert not any(thread.is_alive() for thread in waiting)
    os.close(writer)


def test_a_socket_that_nobody_reads_holds_nobody_up() -> None:
    ours, theirs = socket.socketpair()
    with closing(ours), closing(theirs):
        handler = LinesBeside(ours.fileno())
        sent = [f"{number} {'s' * 5000}" for number in range(200)]
        for text in sent:
            say(handler, text)
        say(handler, "end")
        assert read_until(theirs.fileno(), b"end\n").decode().splitlines() == [*sent, "end"]


def test_a_child_writes_its_own_lines_and_none_of_its_parents(pipe: tuple[int, int]) -> None:
    reader, writer = pipe
    handler = LinesBeside(writer)
    for number in range(100):
        say(handler, f"{number} {'p' * 1000}")
    child = os.fork()
    if child == 0:
        try:
            say(handler, "child")
            handler.flush()
        finally:
            os._exit(0)
    say(handler, "end")
    lines: list[str] = []
    while {"child", "end"} - set(lines):
        lines += read_until(reader, b"\n").decode().splitlines()
    os.waitpid(child, 0)
    numbers = [line.split()[0] for line in lines if line.endswith("p")]
    assert sorted(numbers, key=int) == [str(number) for number in range(100)]
    assert lines.count("child") == 1


def test_what_is_no_file_is_written_to_as_ever() -> None:
    stream = io.StringIO()
    say(handler_for(stream), "a line")
    assert stream.getvalue() == "a line\n"


def test_lost_lines_are_counted(pipe: tuple[int, int]) -> None:
    root = logging.getLogger()
    handler = LinesBeside(pipe[1], most_waiting_bytes=0)
    before = lost_lines()
    root.addHandler(handler)
    try:
        for _ in range(PIPE_BYTES // 1000 + 10):
            say(handler, "l" * 999)
        assert lost_lines() - before == handler.lost > 0
        shown = f"xprof_hub_lost_log_lines_total {float(lost_lines())}"
        assert shown in Metrics().text().decode()
    finally:
        root.removeHandler(handler)


def test_lines_of_the_log_are_json_through_a_pipe(pipe: tuple[int, int]) -> None:
    from server.machine.logs import configure_logs

    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    try:
        with os.fdopen(os.dup(pipe[1]), "w") as stream:
            configure_logs("info", stream)
            logging.getLogger("t").info("hello", extra={"status": 200})
            (line,) = read_until(pipe[0], b"\n").splitlines()
    finally:
        root.handlers = handlers
        root.setLevel(level)
    found = json.loads(line)
    assert (found["event"], found["status"], found["level"]) == ("hello", 200, "info")
