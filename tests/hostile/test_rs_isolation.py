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

from loader.engine.base import Limits
from loader.engine.compare import first_difference
from loader.engine.fast import FastEngine
from loader.engine.rs_line import open_line
from loader.engine.sandbox import FIRST_UID, available_layers
from loader.engine.xprof import XprofEngine
from loader.errors import ErrorCode, LoaderError
from tests.services.engine import CORPUS, MakeJob

NEEDED = {
    "read the input",
    "read the input by way of the process",
    "start a thread",
    "accept the connection",
}
LIMITS = Limits(seconds=4, memory_bytes=512 << 20, output_bytes=256 << 20)
BROKE = {ErrorCode.ENGINE_CRASHED, ErrorCode.TIMED_OUT, ErrorCode.OUT_OF_MEMORY}
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


@pytest.mark.parametrize("profile", sorted(path.name for path in CORPUS.glob("*.xplane.pb")))
def test_a_hostile_profile_is_answered_or_refused_as_by_xprof(
    both: XprofEngine, make_job: MakeJob, profile: str
) -> None:
    def outcome(engine: FastEngine | XprofEngine, tool: str) -> bytes | ErrorCode:
        try:
            return engine.convert(make_job(tool, CORPUS / profile), LIMITS).output.read_bytes()
        except LoaderError as error:
            return error.code

    fast = FastEngine(both, lambda _tool, _outcome: None)
    for tool in ("hlo_stats", "memory_profile"):
        seen, expected = outcome(fast, tool), outcome(both, tool)
        if isinstance(seen, bytes) and isinstance(expected, bytes):
            assert first_difference(tool, seen, expected) is None
        elif expected not in BROKE or seen in BROKE:
            # Where XProf breaks, xprof-rs may have an answer; what XProf refuses, it may not.
            assert seen == expected
