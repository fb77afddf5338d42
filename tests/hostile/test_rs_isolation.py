"""A profile that takes over xprof-rs gets nowhere, and nobody else gets to it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from loader.engine.rs_line import open_line
from loader.engine.sandbox import FIRST_UID, available_layers

NEEDED = {
    "read the input",
    "read the input by way of the process",
    "start a thread",
    "accept the connection",
}
REFUSALS = {"EPERM", "EACCES", "EBADF", "EMFILE", "EINVAL"}


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that every user can walk to, unlike pytest's own."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def test_no_way_out(place: Path) -> None:
    held = {layer.name for layer in available_layers() if layer.holds}
    if not {"system_calls", "landlock"} <= held:
        pytest.skip("this machine has no system call filter or no Landlock")
    job, outside = place / "job", place / "outside"
    job.mkdir(mode=0o700)
    (outside / "everyone").mkdir(parents=True)
    (outside / "everyone").chmod(0o777)
    (outside / "secret").write_text("a secret")
    (job / "vm.xplane.pb").write_bytes(b"profile")
    if os.geteuid() == 0:
        os.chown(job, FIRST_UID, FIRST_UID)
    done = subprocess.run(
        [sys.executable, "-m", "tests.hostile.rs_break_out", str(job), str(outside)],
        stdout=subprocess.PIPE,
        timeout=60,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    outcome: dict[str, str] = json.loads(done.stdout)
    assert {name for name, result in outcome.items() if result == "done"} == NEEDED
    assert set(outcome.values()) <= {"done"} | REFUSALS


def test_only_the_one_connection_gets_through() -> None:
    listener, client = open_line()
    with listener, client, socket.socket() as stranger:
        stranger.settimeout(0.3)
        with pytest.raises(TimeoutError):
            stranger.connect(listener.getsockname())
        accepted, caller = listener.accept()
        with accepted:
            assert caller == client.getsockname()
            client.sendall(b"a question")
            accepted.settimeout(5)
            assert accepted.recv(100) == b"a question"
        with pytest.raises(BlockingIOError):
            listener.accept()


def test_the_filter_of_the_line_stays() -> None:
    listener, client = open_line()
    with listener, client, pytest.raises(PermissionError):
        listener.setsockopt(socket.SOL_SOCKET, 27, 0)  # SO_DETACH_FILTER
