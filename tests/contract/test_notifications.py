"""`/v1/notifications:push` as Pub/Sub calls it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import httpx2
import pytest

from tests.contract.api_calls import authorize, create_run, error_of
from tests.push_signing import ACCOUNT, AUDIENCE, Issuer
from tests.services.api import Api, api_settings, serve_api

ISSUER = Issuer()
NAME = "2026_03_01_11_59_00"


class _Keys(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = json.dumps(ISSUER.keys).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def keys_url() -> Iterator[str]:
    """Where the issuer publishes its keys."""
    server = HTTPServer(("127.0.0.1", 0), _Keys)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory, keys_url: str) -> Iterator[Api]:
    """A server that asks for tokens and takes notifications of a bucket that it can't reach."""
    settings = api_settings(
        tmp_path_factory.mktemp("told"),
        auth="token",
        storage_roots="gs://bucket/team",
        scan_roots="gs://bucket/team",
        auto_register=True,
        scan_seconds=0,
        pubsub_audience=AUDIENCE,
        pubsub_account=ACCOUNT,
        pubsub_keys_url=keys_url,
    )
    with serve_api(settings) as api:
        authorize(api)
        yield api


def message(name: str, **attributes: str) -> dict[str, object]:
    """As https://cloud.google.com/pubsub/docs/push shows it."""
    values = {
        "bucketId": "bucket",
        "eventType": "OBJECT_FINALIZE",
        "objectId": name,
        "objectGeneration": "1",
        "payloadFormat": "JSON_API_V1",
        **attributes,
    }
    inner = {"attributes": values, "data": "e30=", "messageId": "1", "message_id": "1"}
    return {"message": inner, "subscription": "projects/p/subscriptions/s"}


def push(api: Api, body: object, **headers: str) -> httpx2.Response:
    sent = {"Authorization": ISSUER.header(), **headers}
    return httpx2.post(f"{api.url}/v1/notifications:push", json=body, headers=sent)


def sessions_of(api: Api, run: str) -> list[str]:
    answer = api.http.get(f"/machineLearningRuns/{run}/profilerSessions")
    if answer.status_code == 404:
        return []
    return [one["name"] for one in answer.json()["profilerSessions"]]


def test_a_profile_is_a_session_at_once_and_twice_is_once(told: Api) -> None:
    for _ in range(2):
        for host in ("h0", "h1"):
            body = message(f"team/told/plugins/profile/{NAME}/{host}.xplane.pb")
            assert push(told, body).status_code == 204
    assert sessions_of(told, "told") == [f"machineLearningRuns/told/profilerSessions/{NAME}"]
    session = told.http.get("/machineLearningRuns/told/profilerSessions?filter=kind=SCANNED")
    (found,) = session.json()["profilerSessions"]
    assert (found["kind"], found["state"]) == ("SCANNED", "OPEN")
    assert found["storageFolderUri"] == f"gs://bucket/team/told/plugins/profile/{NAME}"


@pytest.mark.parametrize(
    "body",
    [
        message("team/other/checkpoints/1/weights"),
        message(f"team/other/plugins/profile/{NAME}/h0.xplane.pb", eventType="OBJECT_DELETE"),
        message(f"team/other/plugins/profile/{NAME}/h0.xplane.pb", bucketId="elsewhere"),
        message(f"elsewhere/other/plugins/profile/{NAME}/h0.xplane.pb"),
        {"message": {"data": "e30="}},
        {"message": None},
        [],
        7,
    ],
)
def test_everything_else_that_is_genuine_is_acknowledged(told: Api, body: object) -> None:
    assert push(told, body).status_code == 204
    assert sessions_of(told, "other") == []


@pytest.mark.parametrize(
    "credential", ["", "Bearer x", Issuer().header(), ISSUER.header(claims={"aud": "x"})]
)
def test_what_is_not_signed_for_us_is_refused(told: Api, credential: str) -> None:
    body = message(f"team/forged/plugins/profile/{NAME}/h0.xplane.pb")
    answer = push(told, body, Authorization=credential)
    assert error_of(answer) == (401, "UNAUTHENTICATED")
    assert sessions_of(told, "forged") == []


def test_an_api_token_does_not_count(told: Api) -> None:
    body = message(f"team/forged/plugins/profile/{NAME}/h0.xplane.pb")
    answer = push(told, body, Authorization=str(told.http.headers["Authorization"]))
    assert answer.status_code == 401


def test_a_deleted_run_stays_deleted(told: Api) -> None:
    body = message(f"team/gone/plugins/profile/{NAME}/h0.xplane.pb")
    assert push(told, body).status_code == 204
    assert told.http.delete("/machineLearningRuns/gone").status_code == 200
    assert push(told, body).status_code == 204
    assert told.http.get("/machineLearningRuns/gone").status_code == 404


def test_a_run_that_says_where_it_writes_needs_no_scan_root(told: Api) -> None:
    assert create_run(told, "own", storageRoot="gs://bucket/team/deep").status_code == 200
    body = message(f"team/deep/own/plugins/profile/{NAME}/h0.xplane.pb")
    assert push(told, body).status_code == 204
    assert len(sessions_of(told, "own")) == 1


def test_without_the_settings_there_is_no_such_address(guarded_api: Api) -> None:
    answer = push(guarded_api, message("x"))
    assert error_of(answer) == (404, "NOT_FOUND")


def test_without_keys_it_shall_come_again(tmp_path: Path) -> None:
    settings = api_settings(
        tmp_path,
        auth="token",
        scan_seconds=0,
        pubsub_audience=AUDIENCE,
        pubsub_account=ACCOUNT,
        pubsub_keys_url="http://127.0.0.1:1/keys",
    )
    with serve_api(settings) as api:
        answer = push(api, message("x"))
    assert error_of(answer) == (503, "UNAVAILABLE")
