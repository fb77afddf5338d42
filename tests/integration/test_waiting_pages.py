"""Many pages that wait for an answer cost the bucket and the log next to nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest

from tests.integration.fake_gcs import FakeGcs, serving
from tests.services.cluster import PROFILE_PATH, get
from tests.services.hub import HubFactory, HubProcess, share

PAGES = 16
POLLS = 4
"""What each page asks in these tests."""


@dataclass(frozen=True)
class Waiting:
    """A front end with a session in a bucket, and no worker that answers."""

    bucket: FakeGcs
    front: HubProcess
    base: str

    def listings(self) -> int:
        """How often the bucket was listed."""
        return sum(request.path.endswith("/o") for request in self.bucket.requests)


@pytest.fixture
def waiting(hubs: HubFactory) -> Iterator[Waiting]:
    with serving() as bucket:
        bucket.objects["s/h.xplane.pb"] = b"a profile"
        env = {
            "STORAGE_EMULATOR_HOST": bucket.url,
            "XPROF_HUB_STORAGE_ROOTS": "gs://bucket",
            "XPROF_HUB_WORKERS": "http://127.0.0.1:9",
        }
        front = hubs.start(env, only="front")
        base = share(front.url, "r", "s", "gs://bucket/s") + PROFILE_PATH
        yield Waiting(bucket, front, base)
        front.stop()


def test_the_bucket_is_not_listed_each_time(waiting: Waiting) -> None:
    before = waiting.listings()
    address = f"{waiting.base}/progress/data?tag=overview_page&host=ALL_HOSTS"
    assert json.loads(get(address).body)["state"] == "idle"
    with ThreadPoolExecutor(PAGES) as pages:
        answers = list(pages.map(get, [address] * (PAGES * POLLS)))
    assert {answer.status for answer in answers} == {200}
    # Once in ten seconds, which a slow machine may need.
    assert waiting.listings() - before < POLLS


def test_a_late_host_is_known_as_soon_as_its_answer_is_asked_for(waiting: Waiting) -> None:
    about_late = f"{waiting.base}/progress/data?tag=hlo_stats&host=late"
    assert get(about_late).status == 404
    waiting.bucket.objects["s/late.xplane.pb"] = b"another profile"
    # Nobody makes it, but the front end has looked.
    assert get(f"{waiting.base}/data?tag=hlo_stats&host=late").status == 503
    assert get(about_late).status == 200


def test_only_failures_are_logged(waiting: Waiting) -> None:
    for _ in range(POLLS):
        assert get(f"{waiting.base}/progress/run_tools").status == 200
    assert get(f"{waiting.base}/progress/no_such_route").status == 404
    metrics = get(f"{waiting.front.url}/metrics").body.decode()
    counted = re.findall(
        r'requests_total\{route="[^"]*/progress/[^"]*",status="200"\} ([\d.]+)', metrics
    )
    assert [float(count) for count in counted] == [POLLS]
    lines = [line for line in waiting.front.log_text().splitlines() if "/progress/" in line]
    assert len(lines) == 1
    assert "no_such_route" in lines[0]


def test_without_a_worker_nothing_is_said_against_the_profile(waiting: Waiting) -> None:
    status = json.loads(get(f"{waiting.base}/status").body)
    assert (status["state"], status["problems"]) == ("unknown", [])
