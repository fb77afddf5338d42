"""Google's SDK as it is on PyPI, in jobs of their own, against the API: self-hosted mode."""

from __future__ import annotations

import signal
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from auth.identity import Role
from auth.tokens import new_api_token
from tests.contract.api_calls import authorize, token_for
from tests.services.api import Api, ApiServers
from tests.services.clients import Job, Jobs
from tests.services.faulty import faulty_server
from tests.services.processes import free_port

PROGRAM = "sdk_job.py"
NONSENSE = (b"", b"<html>Bad gateway</html>", b"{}", b"[]", b'{"name": 1}')


@pytest.fixture
def one_api(api_servers: ApiServers) -> Api:
    """A server that asks for tokens, where no database makes a difference: a job takes seconds to start."""
    return api_servers.get("sqlite", "token")


def by_path(api: Api) -> str:
    """The hub's address as a job gets it, with a job's token in its path. The test becomes an admin."""
    _, secret = token_for(api, Role.INGEST)
    authorize(api)
    return f"{api.url}/ingest/{secret}"


def run_of(api: Api, job: Job) -> dict[str, Any]:
    """The run that a job was told it is."""
    answer = api.http.get(f"/machineLearningRuns/{job.said()['run']}")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def attempts_of(api: Api, job: Job) -> list[tuple[int, str]]:
    return [(one["number"], one["state"]) for one in run_of(api, job)["attempts"]]


def test_a_job_that_finishes(guarded_api: Api, jobs: Jobs) -> None:
    root = f"{guarded_api.settings.storage_roots[0]}/team"
    job = jobs.run(PROGRAM, by_path(guarded_api), "exp 1", "--root", root)
    assert job.wait() == 0, job.text
    run = run_of(guarded_api, job)
    assert run["state"] == "COMPLETED"
    assert run["displayName"] == "exp 1"
    assert run["creator"] == "ingest"
    assert run["storageRoot"] == root
    assert run["warnings"] == []
    assert [one["state"] for one in run["attempts"]] == ["COMPLETED"]


def test_a_job_that_fails(one_api: Api, jobs: Jobs) -> None:
    job = jobs.run(PROGRAM, by_path(one_api), "fails", "--end", "raise")
    assert job.wait() == 1
    assert "the job has failed" in job.text
    assert run_of(one_api, job)["state"] == "FAILED"


def test_a_job_that_is_told_to_stop(one_api: Api, jobs: Jobs) -> None:
    job = jobs.start(PROGRAM, by_path(one_api), "stopped", "--end", "wait")
    job.wait_until_said("run")
    assert job.process.stop() == -signal.SIGTERM
    assert run_of(one_api, job)["state"] == "FAILED"


def test_a_killed_job_that_starts_again(guarded_api: Api, jobs: Jobs) -> None:
    url = by_path(guarded_api)
    killed = jobs.run(PROGRAM, url, "again", "--end", "die")
    assert killed.wait() == -signal.SIGKILL
    assert attempts_of(guarded_api, killed) == [(1, "ACTIVE")]
    again = jobs.run(PROGRAM, url, "again")
    assert again.said()["run"] == killed.said()["run"]
    assert attempts_of(guarded_api, again) == [(1, "LOST"), (2, "COMPLETED")]


def test_two_restarts_at_once(guarded_api: Api, jobs: Jobs) -> None:
    url = by_path(guarded_api)
    racing = [jobs.start(PROGRAM, url, "race", "--end", end) for end in ("normal", "raise")]
    assert [job.wait() for job in racing] == [0, 1]
    # Each has an attempt of its own, and its own end: the SDK's session carries the attempt's number back.
    ends = attempts_of(guarded_api, racing[0])
    assert [number for number, _ in ends] == [1, 2]
    assert sorted(state for _, state in ends) == ["COMPLETED", "FAILED"]


def test_several_processes_are_one_run_in_one_folder(guarded_api: Api, jobs: Jobs) -> None:
    url, root = by_path(guarded_api), guarded_api.settings.storage_roots[0]
    coordinator = f"127.0.0.1:{free_port()}"
    parts = [
        jobs.start(
            PROGRAM, url, "parallel", "--root", root, "--coordinator", coordinator,
            "--process", str(number), "--capture", f"session-{number}",
        )
        for number in (1, 0)
    ]  # fmt: skip
    assert [part.wait() for part in parts] == [0, 0], parts[0].text + parts[1].text
    run = run_of(guarded_api, parts[0])
    assert parts[1].said()["run"] == parts[0].said()["run"]
    assert [one["state"] for one in run["attempts"]] == ["COMPLETED"]
    folder = Path(root) / str(parts[0].said()["run"]) / "plugins" / "profile"
    assert sorted(path.name for path in folder.iterdir()) == ["session-0", "session-1"]


def test_what_it_captures_becomes_a_session(one_api: Api, jobs: Jobs) -> None:
    root = one_api.settings.storage_roots[0]
    job = jobs.run(PROGRAM, by_path(one_api), "c", "--root", root, "--capture", "step-10")
    run = run_of(one_api, job)
    answer = one_api.http.post(f"/{run['name']}:scan")
    assert answer.status_code == 200, answer.text
    listed = one_api.http.get(f"/{run['name']}/profilerSessions").json()["profilerSessions"]
    assert [session["name"] for session in listed] == [f"{run['name']}/profilerSessions/step-10"]
    session = one_api.http.get(f"/{listed[0]['name']}").json()
    run_id = str(job.said()["run"])
    assert session["storageFolderUri"].rstrip("/") == f"{root}/{run_id}/plugins/profile/step-10"
    assert session["kind"] == "SCANNED"
    assert session["foundHosts"] == 1


def test_credentials_in_the_address_as_basic(one_api: Api, jobs: Jobs) -> None:
    _, secret = token_for(one_api, Role.INGEST)
    authorize(one_api)
    job = jobs.run(PROGRAM, one_api.url.replace("http://", f"http://job:{secret}@"), "basic")
    assert job.wait() == 0, job.text
    assert run_of(one_api, job)["state"] == "COMPLETED"


def test_a_wrong_token_ends_the_job_at_its_start(one_api: Api, jobs: Jobs) -> None:
    # The SDK raises on any 4xx; a job that may not register learns of it before it costs anything.
    job = jobs.run(PROGRAM, f"{one_api.url}/ingest/{new_api_token()}", "stranger")
    assert job.wait() == 1
    assert "401 Client Error" in job.text
    authorize(one_api)
    assert one_api.http.get("/machineLearningRuns").json()["machineLearningRuns"] == []


def test_no_hub_at_all(jobs: Jobs) -> None:
    job = jobs.run(PROGRAM, f"http://127.0.0.1:{free_port()}", "alone")
    assert job.wait() == 0
    assert job.said()["done"]


def test_a_hub_that_answers_nonsense(jobs: Jobs) -> None:
    with ExitStack() as servers:
        urls = [servers.enter_context(faulty_server(200, body)) for body in NONSENSE]
        started = [jobs.start(PROGRAM, url, "nonsense") for url in urls]
        ends = [job.wait() for job in started]
    for body, job, end in zip(NONSENSE, started, ends, strict=True):
        assert end == 0, (body, job.text)
        assert job.said()["done"], body


def test_a_hub_that_is_slower_than_the_sdk_waits(jobs: Jobs) -> None:
    with faulty_server(200, b"{}", seconds=6) as url:
        job = jobs.run(PROGRAM, url, "slow")
    assert job.wait() == 0, job.text
    assert job.said()["done"]


def test_an_end_that_the_hub_refuses_costs_the_job_nothing(one_api: Api, jobs: Jobs) -> None:
    job = jobs.start(PROGRAM, by_path(one_api), "deleted", "--end", "wait")
    job.wait_until_said("run")
    one_api.http.delete(f"/machineLearningRuns/{job.said()['run']}").raise_for_status()
    assert job.process.stop() == -signal.SIGTERM
    assert one_api.http.get("/machineLearningRuns").json()["machineLearningRuns"] == []
