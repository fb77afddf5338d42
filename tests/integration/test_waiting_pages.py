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
from tests.services.pair import until

PAGES = 16
POLLS = 4
"""What each page asks in these tests."""


@dataclass(frozen=True)
class Waiting:
    """A front end that reads a bucket, and no worker that answers."""

    bucket: FakeGcs
    front: HubProcess

    def share(self, name: str) -> str:
        """Address of XProf under a link to a new session in a folder of this name."""
        self.bucket.objects[f"{name}/h.xplane.pb"] = b"a profile"
        return share(self.front.url, name, "s", f"gs://bucket/{name}") + PROFILE_PATH

    def listings(self) -> int:
        """How often the bucket was listed."""
        return sum(request.path.endswith("/o") for request in self.bucket.requests)

    def answered(self) -> int:
        """How often a question about progress was answered with 200."""
        metrics = get(f"{self.front.url}/metrics").body.decode()
        pattern = r'requests_total\{route="[^"]*/progress/[^"]*",status="200"\} ([\d.]+)'
        return sum(int(float(count)) for count in re.findall(pattern, metrics))


@pytest.fixture(scope="module")
def waiting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Waiting]:
    factory = HubFactory(tmp_path_factory.mktemp("waiting"))
    with serving() as bucket:
        env = {
            "STORAGE_EMULATOR_HOST": bucket.url,
            "XPROF_HUB_STORAGE_ROOTS": "gs://bucket",
            "XPROF_HUB_WORKERS": "http://127.0.0.1:9",
        }
        yield Waiting(bucket, factory.start(env, only="front"))
        factory.stop_all()


def test_the_bucket_is_not_listed_each_time(waiting: Waiting) -> None:
    base = waiting.share("often")
    before = waiting.listings()
    address = f"{base}/progress/data?tag=overview_page&host=ALL_HOSTS"
    assert json.loads(get(address).body)["state"] == "idle"
    with ThreadPoolExecutor(PAGES) as pages:
        answers = list(pages.map(get, [address] * (PAGES * POLLS)))
    assert {answer.status for answer in answers} == {200}
    # Once in ten seconds, which a slow machine may need.
    assert waiting.listings() - before < POLLS


def test_a_late_host_is_known_as_soon_as_its_answer_is_asked_for(waiting: Waiting) -> None:
    base = waiting.share("growing")
    about_late = f"{base}/progress/data?tag=hlo_stats&host=late"
    assert get(about_late).status == 404
    waiting.bucket.objects["growing/late.xplane.pb"] = b"another profile"
    # Nobody makes it, but the front end has looked.
    assert get(f"{base}/data?tag=hlo_stats&host=late").status == 503
    assert get(about_late).status == 200


def test_only_failures_are_logged(waiting: Waiting) -> None:
    base = waiting.share("quiet")
    before = waiting.answered()
    for _ in range(POLLS):
        assert get(f"{base}/progress/run_tools").status == 200
    # A request is counted, and logged, when its last byte has gone, which its reader may see sooner.
    until(lambda: waiting.answered() == before + POLLS)
    assert get(f"{base}/progress/no_such_route").status == 404
    until(lambda: "/progress/no_such_route" in waiting.front.log_text())
    assert "/progress/run_tools" not in waiting.front.log_text()


def test_without_a_worker_nothing_is_said_against_the_profile(waiting: Waiting) -> None:
    status = json.loads(get(f"{waiting.share('unknown')}/status").body)
    assert (status["state"], status["problems"]) == ("unknown", [])
