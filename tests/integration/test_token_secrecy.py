"""A real front end process: tokens appear in no log line and no error, wherever a client puts them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import httpx2

from tests.services.hub import HubFactory

RUN = "/v1/machineLearningRuns"


def encode_everything(text: str) -> str:
    """Every byte percent-encoded, which addresses the same thing."""
    return "".join(f"%{byte:02x}" for byte in text.encode())


def misplaced(http: httpx2.Client, token: str) -> list[httpx2.Response]:
    """Answers to requests that have a token where none belongs."""
    sessions = f"{RUN}/r/profilerSessions"
    return [
        http.get(f"{RUN}/{token}"),
        http.get(f"{RUN}/{encode_everything(token)}"),
        http.get(f"/v1/shareLinks/{quote(token)}"),
        http.get(f"/v1/{token}/nothing"),
        http.get(f"{RUN}?{token}=1"),
        http.get(RUN, params={"orderBy": token}),
        http.get(RUN, params={"pageToken": token}),
        http.post(sessions, json={"storageFolderUri": f"/{token}"}),
        http.post(sessions, json={"storageFolderUri": f"gs://{token}/x"}),
        http.post(RUN, json={token: 1}),
        http.patch(f"{RUN}/r", params={"updateMask": token}, json={}),
        http.request("DELETE", f"{RUN}/{token}"),
    ]


def test_tokens_are_in_no_error_and_no_log(
    hubs: HubFactory, small_session: Path, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    environment = {
        "XPROF_HUB_AUTH": "token",
        "XPROF_HUB_DATA_DIR": str(data),
        "XPROF_HUB_SECRET_KEY": "of this test",
        "XPROF_HUB_STORAGE_ROOTS": str(small_session),
        "XPROF_HUB_WORKERS": "http://127.0.0.1:9",
        "XPROF_HUB_LOG_LEVEL": "debug",
    }
    hub = hubs.start(environment, only="front")
    program = str(Path(sys.executable).parent / "xprof-hub")
    made = subprocess.run(
        [program, "tokens", "create", "first", "--local", "--role", "admin"],
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    secret = made.stdout.strip()
    assert secret.startswith("xpa_")
    headers = {"Authorization": f"Bearer {secret}"}
    with httpx2.Client(base_url=hub.url, headers=headers, trust_env=False) as http:
        http.post(RUN, params={"machineLearningRunId": "r"}, json={}).raise_for_status()
        path = f"{RUN}/r/profilerSessions"
        body = {"storageFolderUri": str(small_session)}
        http.post(path, params={"profilerSessionId": "s"}, json=body).raise_for_status()
        link = http.post(f"{path}/s/shareLinks", json={}).raise_for_status().json()["token"]
        for token in (secret, link):
            for answer in misplaced(http, token):
                assert answer.status_code >= 400, answer.request.url
                assert token[4:] not in answer.text
                assert token[4:] not in str(answer.headers)
        http.get(f"/s/{link}")
        http.get(f"/s/{link}x")
        http.get(f"/s/{link}/sessions/s/data/plugin/profile/runs")
    hub.stop()
    log = hub.log_text()
    assert "request" in log
    for token in (secret, link):
        for shape in (token[4:], token[4:24], encode_everything(token[4:24])):
            assert shape not in log
            assert shape.upper() not in log.upper()
    stored = b"".join(file.read_bytes() for file in data.glob("registry.sqlite*"))
    assert stored
    assert not any(token[4:].encode() in stored for token in (secret, link))
