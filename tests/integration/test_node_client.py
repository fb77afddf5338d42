"""npm's @google-cloud/hypercomputecluster 0.5.0 over REST, unmodified, against a hub that asks for tokens."""

from __future__ import annotations

from typing import Any

import httpx2

from auth.identity import Role
from tests.contract.api_calls import token_for
from tests.services.api import Api
from tests.services.node import NodeClient

PARENT = "projects/p1/locations/us-central1"
RUN = f"{PARENT}/machineLearningRuns/my-run"
SESSION = f"{RUN}/profilerSessions/capture-1"
EXISTS, INVALID, NOT_FOUND, PRECONDITION, ABORTED = 6, 3, 5, 9, 10
"""Codes of `google.rpc.Code`."""


def test_the_node_client_does_all_that_it_can(guarded_api: Api, node_client: NodeClient) -> None:
    _, token = token_for(guarded_api, Role.EDITOR)
    answers = node_client(guarded_api.url, token, "gs://bucket/profiles")
    _runs_are_made(answers)
    _runs_are_listed(answers)
    _runs_are_changed(answers)
    _sessions_are_registered(answers)
    _operations_are_kept(answers)


def _runs_are_made(answers: dict[str, Any]) -> None:
    created, got = answers["created"], answers["got"]
    assert created["name"] == got["name"] == RUN
    for run in (created, got):
        assert run["displayName"] == "first"
        assert run["runSet"] == "node"
        assert run["labels"] == {"created_by": "node", "Team": "perf"}
        assert run["configs"]["softwareConfigs"] == {"jax_version": "0.10"}
        assert run["artifacts"] == {"gcsPath": "gs://bucket/profiles"}
        assert (run["orchestrator"], run["runPhase"], run["state"]) == (
            "GKE",
            "ACTIVE",
            "STATE_ACTIVE",
        )
        assert run["workloadDetails"]["gke"]["parentWorkload"] == "w"
    assert [list(tool) for tool in created["tools"]] == [["xprof"]]
    assert answers["metadata"]["target"] == RUN
    assert answers["metadata"]["verb"] == "create"
    assert answers["again"]["code"] == EXISTS
    assert got["updateTime"] == created["updateTime"]
    assert answers["missing"]["code"] == NOT_FOUND


def _runs_are_listed(answers: dict[str, Any]) -> None:
    assert len(answers["page"]) == 2
    assert answers["hasNext"]
    assert answers["all"][-1] == RUN
    assert sorted(answers["all"][:-1]) == [
        f"{PARENT}/machineLearningRuns/other-{one}" for one in "abc"
    ]
    assert answers["badFilter"]["code"] == INVALID
    assert answers["badFilter"]["fields"] == ["filter"]


def _runs_are_changed(answers: dict[str, Any]) -> None:
    updated = answers["updated"]
    assert (updated["displayName"], updated["runPhase"]) == ("second", "COMPLETED")
    assert updated["endTime"]
    assert updated["labels"] == {"created_by": "node", "Team": "perf"}
    assert updated["etag"] != answers["got"]["etag"]
    assert answers["outdated"]["code"] == ABORTED


def _sessions_are_registered(answers: dict[str, Any]) -> None:
    session = answers["sessionGot"]
    assert session["name"] == answers["session"]["name"] == SESSION
    assert session["kind"] == "KIND_ON_DEMAND"
    assert int(session["duration"]["seconds"]) == 5
    assert session["hostTracerLevel"] == "HOST_TRACER_LEVEL_INFO"
    assert session["profilerTargets"] == [f"{RUN}/profilerTargets/t-0"]
    assert session["storageFolderUri"] == ("gs://bucket/profiles/my-run/plugins/profile/capture-1")
    assert session["dashboardUri"].endswith("/runs/my-run/sessions/capture-1/data/plugin/profile/")
    assert answers["sessions"] == [SESSION]
    assert answers["targets"] == []
    assert answers["events"] == []
    assert answers["event"]["code"] == NOT_FOUND
    assert answers["withChildren"]["code"] == PRECONDITION
    assert answers["sessionGone"]["code"] == NOT_FOUND


def _operations_are_kept(answers: dict[str, Any]) -> None:
    operation = answers["operation"]
    assert operation["done"]
    assert operation["name"].startswith(f"{PARENT}/operations/")
    assert answers["progress"] == {"done": True, "name": RUN}
    # Four runs and a session were created, and one run was changed.
    assert len(answers["operations"]) == 6
    assert operation["name"] in answers["operations"]
    assert answers["operationGone"]["code"] == NOT_FOUND
    assert answers["runGone"]["code"] == NOT_FOUND


def test_a_wrong_token_is_told_to_the_node_client(guarded_api: Api) -> None:
    """Its library makes `UNAUTHENTICATED` of the status, and reads the message from the body."""
    url = f"{guarded_api.url}/v1alpha/{PARENT}/machineLearningRuns"
    answer = httpx2.get(url, headers={"Authorization": "Bearer xpa_wrong"})
    assert answer.status_code == 401
    error = answer.json()["error"]
    assert (error["code"], error["status"]) == (401, "UNAUTHENTICATED")
    assert answer.headers["www-authenticate"].startswith("Bearer")
