"""A real front end process: what stands in the place of a token in a job's address appears in no log line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import httpx2

from tests.services.hub import HubFactory

PLAIN = "my-own-password-in-the-wrong-place"


def test_the_address_of_a_job_is_in_no_log(hubs: HubFactory, tmp_path: Path) -> None:
    environment = {
        "XPROF_HUB_AUTH": "token",
        "XPROF_HUB_DATA_DIR": str(tmp_path / "data"),
        "XPROF_HUB_SECRET_KEY": "of this test",
        "XPROF_HUB_STORAGE_ROOTS": str(tmp_path),
        "XPROF_HUB_WORKERS": "http://127.0.0.1:9",
        "XPROF_HUB_LOG_LEVEL": "debug",
    }
    hub = hubs.start(environment, only="front")
    program = str(Path(sys.executable).parent / "xprof-hub")
    command = [program, "tokens", "create", "job", "--local", "--role", "ingest"]
    made = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    secret = made.stdout.strip()
    paths = [
        "v1/machineLearningRuns",
        "v1/machineLearningRuns/r",
        "v1/machineLearningRuns/r/profilerSessions",
        "v1alpha/projects/p/locations/l/machineLearningRuns",
        "nothing",
        "",
    ]
    for token in (secret, PLAIN, f"{PLAIN}%2F..", f"x/{PLAIN}"):
        for path in paths:
            for method in ("PATCH", "POST", "GET"):
                address = f"{hub.url}/ingest/{token}/{path}"
                answer = httpx2.request(method, address, json={"logicalId": "r"})
                for text in (answer.text, str(answer.headers)):
                    assert secret[4:] not in text
                    assert PLAIN not in text
    metrics = httpx2.get(f"{hub.url}/metrics").text
    hub.stop()
    for text in (hub.log_text(), metrics):
        assert secret[4:] not in text
        assert PLAIN not in text
    assert '"path": "/v1/machineLearningRuns"' in hub.log_text()
