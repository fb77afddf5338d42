"""google-cloud-mldiagnostics 1.0.10 in managed mode, unmodified but for its base address, against a hub.

Jobs call with a token that may register and attach, and nothing else.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from auth.identity import Role
from tests.contract.api_calls import authorize, token_for
from tests.services.api import Api, ApiServers
from tests.services.hub import KEPT_VARIABLES
from tests.services.later import answers_later
from tests.services.missing import missing

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv-clients" / "bin" / "python"
JOB = ROOT / "tests" / "clients" / "sdk_managed_job.py"
PLACE = "/v1alpha/projects/demo-proj/locations/us-central1"

Process: TypeAlias = "subprocess.Popen[str]"
Start: TypeAlias = Callable[..., Process]


@pytest.fixture
def hub(api_servers: ApiServers) -> Api:
    """A hub that asks for tokens; its own client calls as an administrator."""
    api = api_servers.get("sqlite", "token")
    authorize(api)
    return api


@pytest.fixture
def start(hub: Api) -> Iterator[Start]:
    """Starts jobs, and ends those that a test leaves behind."""
    if not PYTHON.exists():
        missing("Google's SDK in .venv-clients (make test installs it)", "python3-venv")
    _, token = token_for(hub, Role.INGEST)
    started: list[Process] = []

    def start_job(
        *options: str, host: str = "worker-0", url: str = "", token: str = token
    ) -> Process:
        variables = {key: os.environ[key] for key in KEPT_VARIABLES if key in os.environ}
        where = ["--root", hub.settings.storage_roots[0], "--token", token]
        job = subprocess.Popen(
            [PYTHON, JOB, url or hub.url, "exp Demo_1", *where, *options],
            env={**variables, "HOSTNAME": host, "JAX_PLATFORMS": "cpu"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(job)
        return job

    yield start_job
    for job in started:
        job.kill()
        job.communicate()


def end_of(job: Process) -> tuple[int, list[dict[str, Any]]]:
    """Exit status of a job and what it said."""
    said, complaints = job.communicate(timeout=120)
    print(complaints)
    return job.returncode, [json.loads(line) for line in said.splitlines()]


def only_run(hub: Api) -> dict[str, Any]:
    found: list[dict[str, Any]] = hub.http.get("/machineLearningRuns").json()["machineLearningRuns"]
    assert len(found) == 1
    return found[0]


def states(run: dict[str, Any]) -> list[str]:
    return [attempt["state"] for attempt in run["attempts"]]


def test_a_job_registers_captures_and_ends(hub: Api, start: Start) -> None:
    status, said = end_of(start("--capture", "capture1"))
    assert status == 0
    run = only_run(hub)
    assert run["name"] == f"machineLearningRuns/{said[0]['run']}"
    assert (run["displayName"], run["runSet"], run["state"]) == ("exp Demo_1", "grp A", "COMPLETED")
    assert run["labels"]["created_by"] == "diagon_sdk"
    assert run["configs"]["userConfigs"] == {"epochs": "3"}
    assert run["tools"] == [{"xprof": {}}]
    assert run["storageRoot"] == hub.settings.storage_roots[0]
    assert (states(run), run["warnings"]) == (["COMPLETED"], [])
    session = hub.http.get(f"/{run['name']}/profilerSessions/capture1").json()
    assert (session["kind"], session["attempt"]) == ("PROGRAMMATIC", 1)
    assert session["targets"]["worker-0"]["sessionPhase"] == "SUCCEEDED"
    assert session["startTime"] <= session["endTime"]
    # JAX wrote where the session says that its files are.
    assert [host["file"].endswith(".xplane.pb") for host in session["hosts"]] == [True]


def test_a_job_that_fails_says_so(hub: Api, start: Start) -> None:
    status, _ = end_of(start("--end", "raise"))
    assert status == 1
    assert only_run(hub)["state"] == "FAILED"


def test_a_job_that_is_terminated_says_so(hub: Api, start: Start) -> None:
    job = start("--end", "wait")
    assert job.stdout is not None
    assert "run" in json.loads(job.stdout.readline())
    job.send_signal(signal.SIGTERM)
    assert end_of(job)[0] != 0
    assert only_run(hub)["state"] == "FAILED"


def test_hosts_of_one_job_are_one_run_one_attempt_and_one_session(hub: Api, start: Start) -> None:
    hosts = ("worker-0", "worker-1", "worker-2")
    options = ("--workload", "wl", "--capture", "capture1", "--end", "wait")
    jobs = [start(*options, host=host) for host in hosts]
    for job in jobs:
        assert job.stdout is not None
        assert "run" in json.loads(job.stdout.readline())
        assert json.loads(job.stdout.readline()) == {"capturing": "capture1"}
    for job in jobs:
        status, _ = end_of(job)
        assert status == 0
    run = only_run(hub)
    assert (run["state"], states(run)) == ("COMPLETED", ["COMPLETED"])
    targets = run["workload"]["workloadDetails"]["targets"]
    assert sorted(target["displayName"] for target in targets) == list(hosts)
    session = hub.http.get(f"/{run['name']}/profilerSessions/capture1").json()
    assert {
        host: told["sessionPhase"] for host, told in session["targets"].items()
    } == dict.fromkeys(hosts, "SUCCEEDED")


def test_a_restarted_job_is_another_attempt_of_its_run(hub: Api, start: Start) -> None:
    assert end_of(start("--workload", "wl", "--end", "die"))[0] == -signal.SIGKILL
    assert end_of(start("--workload", "wl", "--end", "raise"))[0] == 1
    assert end_of(start("--workload", "wl"))[0] == 0
    run = only_run(hub)
    assert states(run) == ["LOST", "FAILED", "COMPLETED"]
    assert [target["hostname"] for target in run["workload"]["workloadDetails"]["targets"]] == [
        "worker-0"
    ]


def test_a_person_may_change_the_run_meanwhile(hub: Api, start: Start) -> None:
    """The job's etag is outdated then: it reads the run again, and keeps what the person did."""
    job = start("--end", "wait")
    assert job.stdout is not None
    name = f"machineLearningRuns/{json.loads(job.stdout.readline())['run']}"
    assert hub.http.patch(f"/{name}", json={"runSet": "mine"}).status_code == 200
    assert end_of(job)[0] == 0
    run = only_run(hub)
    assert (run["runSet"], run["state"]) == ("mine", "COMPLETED")


def test_creations_that_take_time_are_polled(hub: Api, start: Start) -> None:
    with answers_later(hub) as (url, calls):
        assert end_of(start("--workload", "wl", url=url))[0] == 0
        assert any(call.startswith(f"GET {PLACE}/operations/operation-") for call in calls)
        assert only_run(hub)["state"] == "COMPLETED"
        calls.clear()
        status, said = end_of(start("--workload", "wl", url=url, host="worker-1"))
    assert status == 0
    run = only_run(hub)
    # The second host heard from the failed operation that the run is there, and added itself.
    assert calls[1].startswith(f"GET {PLACE}/operations/operation-")
    assert f"machineLearningRuns/{said[0]['run']}" == run["name"]
    targets = run["workload"]["workloadDetails"]["targets"]
    assert [target["hostname"] for target in targets] == ["worker-0", "worker-1"]
    assert states(run) == ["COMPLETED", "COMPLETED"]


def test_the_token_may_stand_in_the_address(hub: Api, start: Start) -> None:
    _, token = token_for(hub, Role.INGEST)
    url = f"{hub.url}/ingest/{token}"
    status, _ = end_of(start("--capture", "capture1", url=url, token="not-ours"))
    assert status == 0
    run = only_run(hub)
    assert (run["state"], run["sessionCount"]) == ("COMPLETED", 1)


def test_a_wrong_token_stops_the_job_at_its_start(hub: Api, start: Start) -> None:
    """As it does at Google: in managed mode the SDK raises."""
    status, said = end_of(start(token="xpa_wrong"))
    assert (status, said) == (1, [])
    assert hub.http.get("/machineLearningRuns").json()["machineLearningRuns"] == []
