"""A worker serves only in the sandbox that its setting demands, also as a plain user in a container."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from server.fleet.protocol import TOOL_DATA_PATH, worker_credential
from tests.hostile.poorer_machine import owner_for
from tests.services.processes import Process, free_port, http_status

PLAIN_USER = 10_001
PROGRAM = Path(sys.executable).parent / "xprof-hub"
SECRET = "shared by the parts of one test"
IS_ROOT = os.geteuid() == 0


@pytest.fixture
def place(small_session: Path) -> Iterator[Path]:
    """A folder of the plain user's with a session in it, `profiles`."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(small_session, folder / "profiles")
        if IS_ROOT:
            for path in (folder, *folder.rglob("*")):
                os.chown(path, owner_for(PLAIN_USER), -1)
        yield folder


@contextmanager
def started(
    place: Path, *command: str, lacks: str = "-", mode: str = "standard"
) -> Iterator[Process]:
    """`xprof-hub` with a command, as a plain user on a machine that lacks something."""
    user = str(PLAIN_USER) if IS_ROOT else "-"
    before = [sys.executable, "-m", "tests.hostile.poorer_machine", user, lacks]
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(Path(__file__).parents[2]),
        "HOME": str(place),
        "XPROF_HUB_DATA_DIR": str(place / "data"),
        "XPROF_HUB_STORAGE_ROOTS": str(place / "profiles"),
        "XPROF_HUB_SECRET_KEY": SECRET,
        "XPROF_HUB_SANDBOX": mode,
    }
    log = Path(tempfile.mkstemp(dir=place, suffix=".log")[1])
    process = Process.start("xprof-hub", [*before, PROGRAM, *command], log, env=environment)
    try:
        yield process
    finally:
        process.stop()


def refusal(place: Path, *command: str, lacks: str, mode: str) -> str:
    """What a start that must be refused says."""
    with started(place, *command, lacks=lacks, mode=mode) as process:
        status = process.popen.wait(60)
        text = process.log_text()
    assert status == 1, text
    assert "Traceback" not in text
    return text


def overview(place: Path, lacks: str, mode: str) -> tuple[httpx2.Response, str]:
    """The answer of a worker, and its log."""
    port = free_port()
    command = ("serve", "--only", "worker", "--port", str(port))
    with started(place, *command, lacks=lacks, mode=mode) as process:
        process.wait_for(lambda: http_status(f"http://127.0.0.1:{port}/readyz") == 200)
        body: dict[str, object] = {
            "locations": [str(place / "profiles")],
            "tool": "overview_page",
            "hosts": None,
            "options": {},
            "as_csv": False,
        }
        headers = {"Authorization": f"Bearer {worker_credential(SECRET)}"}
        url = f"http://127.0.0.1:{port}{TOOL_DATA_PATH}"
        answer = httpx2.post(url, json=body, headers=headers, timeout=60, trust_env=False)
        return answer, process.log_text()


def has_landlock() -> bool:
    from loader.engine.landlock import version

    return version() > 0


WORKER = ("serve", "--only", "worker", "--port", "0")


def test_a_plain_user_without_privileges_converts_in_the_standard_sandbox(place: Path) -> None:
    if not has_landlock():
        pytest.skip("this kernel has no Landlock")
    answer, log = overview(place, "-", "standard")
    assert answer.status_code == 200
    assert "without the layer own_user" in log


def test_no_landlock_and_no_user_of_its_own_is_refused_and_named(place: Path) -> None:
    text = refusal(place, *WORKER, lacks="landlock", mode="standard")
    assert "XPROF_HUB_SANDBOX=standard" in text
    assert "own_user (only root can give each conversion a user of its own)" in text
    assert "landlock (this kernel has no Landlock, or it is switched off)" in text
    assert "XPROF_HUB_SANDBOX=reduced" in text


@pytest.mark.parametrize("lacks", ["seccomp", "pretended"])
def test_no_filter_of_system_calls_is_refused_and_named(place: Path, lacks: str) -> None:
    text = refusal(place, *WORKER, lacks=lacks, mode="standard")
    assert "system_calls (" in text
    assert "XPROF_HUB_SANDBOX=reduced" in text


def test_strict_wants_a_user_for_each_conversion(place: Path) -> None:
    text = refusal(place, *WORKER, lacks="-", mode="strict")
    assert "own_user (only root can give each conversion a user of its own)" in text
    # What does hold here is offered, not less.
    assert f"XPROF_HUB_SANDBOX={'standard' if has_landlock() else 'reduced'}" in text


@pytest.mark.parametrize(
    ("lacks", "mode", "status", "lines"),
    [
        (
            "-",
            "standard",
            "ok",
            (
                "sandbox mode standard: met; this machine can hold standard",
                "sandbox own_user: does not hold, which standard does not need here",
            ),
        ),
        (
            "landlock",
            "standard",
            "FAIL",
            (
                "sandbox landlock: does not hold: this kernel has no",
                "sandbox mode standard: not met: this machine can hold reduced",
            ),
        ),
        (
            "-",
            "strict",
            "FAIL",
            (
                "sandbox own_user: does not hold: only root can",
                "set XPROF_HUB_SANDBOX=standard to serve without them",
            ),
        ),
        ("seccomp", "reduced", "ok", ("sandbox mode reduced: anything is accepted",)),
    ],
)
def test_doctor_says_what_holds_and_what_to_set(
    place: Path, lacks: str, mode: str, status: str, lines: tuple[str, ...]
) -> None:
    if not has_landlock():
        pytest.skip("this kernel has no Landlock")
    with started(place, "doctor", lacks=lacks, mode=mode) as process:
        process.popen.wait(60)
        text = process.log_text()
    for line in lines:
        found = [row for row in text.splitlines() if line in row]
        assert [row.split()[0] for row in found] == [status], text


def test_reduced_serves_and_warns(place: Path) -> None:
    answer, log = overview(place, "landlock,seccomp", "reduced")
    assert answer.status_code == 200
    assert "Serve only profiles that you trust" in log
    assert "without the layer system_calls" in log
    assert "without the layer landlock" in log


@pytest.mark.parametrize(
    "command",
    [("serve", "--port", "0"), ("demo", "--port", "0", "--no-browser", "--events", "1000")],
    ids=["serve", "demo"],
)
def test_a_front_end_with_its_own_worker_says_the_same(
    place: Path, command: tuple[str, ...]
) -> None:
    text = refusal(place, *command, lacks="landlock", mode="standard")
    assert "landlock (this kernel has no Landlock, or it is switched off)" in text
    assert "The worker did not start" in text
