"""One front end, two workers, Redis and GCS as processes: paid once, and nothing that dies is noticed."""

from __future__ import annotations

import json
import re
import time
import urllib.error
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil

from tests.services.cluster import Cluster, conversions, get
from tests.services.hub import HubProcess, post
from tests.services.redis import RedisServer

TOOLS = {
    "overview_page": {"tag": "overview_page", "host": "ALL_HOSTS"},
    "trace_viewer@": {"tag": "trace_viewer@", "host": "ALL_HOSTS", "resolution": "8000"},
    "op_profile": {"tag": "op_profile", "host": "ALL_HOSTS"},
    "hlo_stats": {"tag": "hlo_stats", "host": "ALL_HOSTS"},
}


def data_url(base: str, query: dict[str, str]) -> str:
    return f"{base}/data?{urllib.parse.urlencode(query)}"


def host_count(base: str) -> int:
    """The number of hosts in the overview's run environment, from XProf's own answer."""
    tables = get(data_url(base, TOOLS["overview_page"])).json()
    assert isinstance(tables, list)
    environment = next(table["p"] for table in tables if "host_count" in table.get("p", {}))
    return int(environment["host_count"])


def test_sixteen_requests_for_four_tools_of_a_cold_session(
    cluster: Cluster, demo_session: Path
) -> None:
    workers = cluster.worker(), cluster.worker()
    front = cluster.front(*workers)
    base = cluster.share(front, cluster.upload(demo_session))
    urls = [data_url(base, query) for query in TOOLS.values()] * 4
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(get, urls))
    assert [answer.status for answer in answers] == [200] * 16
    for url in set(urls):
        bodies = {answer.body for answer, asked in zip(answers, urls, strict=True) if asked == url}
        assert len(bodies) == 1
    counts = conversions(*workers)
    from_profiles = {tool: count for (tool, source), count in counts.items() if source == "profile"}
    # op_stats serves three of the four tools, the trace has its own artifact.
    assert sum(from_profiles.values()) == 2
    assert from_profiles["trace_viewer@"] == 1
    assert sum(counts.values()) == 4

    second_front = cluster.front(*workers)
    other = base.replace(front.url, second_front.url)
    fresh = cluster.worker()
    lonely_front = cluster.front(fresh)
    lonely = base.replace(front.url, lonely_front.url)
    for query in TOOLS.values():
        expected = next(
            a.body for a, u in zip(answers, urls, strict=True) if u == data_url(base, query)
        )
        assert get(data_url(other, query)).body == expected
        assert get(data_url(lonely, query)).body == expected
    assert conversions(*workers) == counts
    assert conversions(fresh) == {}
    # A zoom that nobody has asked for is made from the shared artifact, not from the profile.
    zoom = {**TOOLS["trace_viewer@"], "start_time_ms": "10.1", "end_time_ms": "12.3"}
    assert get(data_url(lonely, zoom)).status == 200
    assert conversions(fresh) == {("trace_viewer@", "artifact"): 1}


def busy_worker(workers: tuple[HubProcess, ...]) -> HubProcess:
    """The worker that has a conversion's child."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        for worker in workers:
            tree = psutil.Process(worker.process.popen.pid).children(recursive=True)
            if len(tree) >= 2:  # the zygote and its child
                return worker
        time.sleep(0.005)
    raise AssertionError("no worker started a conversion")


def test_a_worker_killed_while_it_converts_costs_a_retry(
    cluster: Cluster, demo_session: Path
) -> None:
    workers = cluster.worker(), cluster.worker()
    front = cluster.front(*workers)
    base = cluster.share(front, cluster.upload(demo_session))
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(get, data_url(base, TOOLS["trace_viewer@"]))
        victim = busy_worker(workers)
        victim.kill()
        answer = waiting.result(120)
    survivor = next(worker for worker in workers if worker is not victim)
    assert answer.status == 200
    assert len(answer.body) > 1_000_000
    assert conversions(survivor) == {("trace_viewer@", "profile"): 1}
    metrics = get(f"{front.url}/metrics").body.decode()
    (retries,) = re.findall(r"^xprof_hub_worker_retries_total ([\d.]+)$", metrics, re.M)
    assert float(retries) >= 1


def test_redis_gone_and_back_costs_time_but_no_answer(
    cluster: Cluster, small_session: Path, redis_server: RedisServer
) -> None:
    workers = cluster.worker(), cluster.worker()
    front = cluster.front(*workers)
    base = cluster.share(front, cluster.upload(small_session))
    overview = get(data_url(base, TOOLS["overview_page"]))
    assert overview.status == 200
    redis_server.stop()
    assert get(data_url(base, TOOLS["overview_page"])).body == overview.body
    assert get(data_url(base, TOOLS["hlo_stats"])).status == 200
    redis_server.start()
    time.sleep(1.5)  # the pause after a failure
    assert get(data_url(base, TOOLS["op_profile"])).status == 200
    before = conversions(*workers)
    assert get(data_url(base, TOOLS["op_profile"])).status == 200
    assert conversions(*workers) == before
    assert sum(count for (_, source), count in before.items() if source == "profile") == 1


def test_a_replaced_file_and_a_late_host_are_seen_at_once(
    cluster: Cluster, demo_session: Path
) -> None:
    worker = cluster.worker()
    front = cluster.front(worker)
    files = sorted(demo_session.glob("*.xplane.pb"))
    prefix = "runs/r/plugins/profile/session"
    for path in files[:3]:
        cluster.gcs.upload(cluster.bucket, f"{prefix}/{path.name}", path.read_bytes())
    base = cluster.share(front, f"gs://{cluster.bucket}/{prefix}")
    assert host_count(base) == 3
    cluster.gcs.upload(cluster.bucket, f"{prefix}/{files[3].name}", files[3].read_bytes())
    assert host_count(base) == 4
    hlo = {"tag": "hlo_stats", "host": files[0].name.removesuffix(".xplane.pb")}
    first = get(data_url(base, hlo))
    cluster.gcs.upload(cluster.bucket, f"{prefix}/{files[0].name}", files[3].read_bytes())
    second = get(data_url(base, hlo), {"If-None-Match": first.headers["etag"]})
    assert (first.status, second.status) == (200, 200)
    assert first.body != second.body
    assert first.headers["etag"] != second.headers["etag"]
    again = get(data_url(base, hlo), {"If-None-Match": second.headers["etag"]})
    assert (again.status, again.body) == (304, b"")


def test_a_revoked_link_ends_on_every_front_end(cluster: Cluster, small_session: Path) -> None:
    worker = cluster.worker()
    first, second = cluster.front(worker), cluster.front(worker)
    base = cluster.share(first, cluster.upload(small_session))
    elsewhere = base.replace(first.url, second.url)
    url = data_url(elsewhere, TOOLS["overview_page"])
    answer = get(url)
    assert answer.status == 200
    links = get(f"{first.url}/v1/shareLinks").json()
    assert isinstance(links, dict)
    name = links["shareLinks"][0]["name"]
    with urllib.request.urlopen(urllib.request.Request(f"{first.url}/v1/{name}", method="DELETE")):
        pass
    # Also for what the browser and the cache still hold.
    for headers in ({}, {"If-None-Match": answer.headers["etag"]}):
        assert get(url, headers).status == 410


def test_storage_answers_stay_four_different_ones(cluster: Cluster, small_session: Path) -> None:
    worker = cluster.worker()
    front = cluster.front(
        worker, XPROF_HUB_STORAGE_ROOTS=f"gs://{cluster.bucket},gs://no-such-bucket"
    )
    run = f"{front.url}/v1/machineLearningRuns"
    post(f"{run}?machineLearningRunId=r", {})

    def attach(location: str) -> tuple[int, str]:
        try:
            post(f"{run}/r/profilerSessions", {"storageFolderUri": location})
        except urllib.error.HTTPError as error:
            body = json.loads(error.__notes__[0])
            return error.code, body["error"]["details"][0]["reason"]
        return 200, ""

    assert attach(f"gs://{cluster.bucket}/nothing/here") == (404, "not_found")
    assert attach("gs://no-such-bucket/x") == (404, "bucket_not_found")
    assert attach("gs://elsewhere/x") == (403, "permission_denied")
