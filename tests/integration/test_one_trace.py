"""One request, followed through front end, worker and child: in their logs, spans, headers and metrics."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from tests.services.cluster import PROFILE_PATH, SECRET, get
from tests.services.collector import CollectedSpan, Collector, collector
from tests.services.hub import HubFactory, HubProcess, copy_of, share
from tests.services.pair import until
from tests.services.processes import free_port, http_status

RUN, SESSION, HOST = "run-that-tells", "session-that-tells", "host-that-tells"
PORT = "XPROF_HUB_METRICS_PORT"
FIRST, SECOND = "4bf92f3577b34da6a3ce929d0e0e4736", "0af7651916cd43dd8448eb211c80319c"
CALLER = "00f067aa0ba902b7"
PARTS = {"wait", "download", "inspect", "convert", "compress", "publish"}


@dataclass(frozen=True)
class Watched:
    """A front end and a worker that tell of themselves in every way.

    Attributes:
        base: address of XProf under a link.
        ports: where their metrics are.
    """

    front: HubProcess
    worker: HubProcess
    collector: Collector
    base: str
    ports: tuple[int, int]
    profiles: Path

    @property
    def token(self) -> str:
        return self.base.split("/s/")[1].split("/")[0]

    def ask(self, path: str, trace_id: str, flags: str = "01") -> dict[str, str]:
        """Headers of the answer to a request in a trace."""
        answer = get(self.base + path, {"traceparent": f"00-{trace_id}-{CALLER}-{flags}"})
        assert answer.status == 200, answer.body
        return dict(answer.headers)

    def lines(self, trace_id: str) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
        """What front end and worker have logged of a trace."""
        return self._lines(self.front.log_text(), trace_id), self._lines(
            self.worker.log_text(), trace_id
        )

    def has_told(self, trace_id: str) -> bool:
        """Whether the front end has logged a request of a trace."""
        return any(row["event"] == "request" for row in self.lines(trace_id)[0])

    @staticmethod
    def _lines(text: str, trace_id: str) -> list[dict[str, object]]:
        rows = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
        return [row for row in rows if row.get("trace_id") == trace_id]

    def metrics(self) -> str:
        return "\n".join(
            get(f"http://127.0.0.1:{port}/metrics").body.decode() for port in self.ports
        )


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory, small_session: Path) -> Iterator[Watched]:
    folder = tmp_path_factory.mktemp("watched")
    factory = HubFactory(folder)
    ports = (free_port(), free_port())
    with collector() as spans:
        env = {
            "XPROF_HUB_DATA_DIR": str(folder / "data"),
            "XPROF_HUB_STORAGE_ROOTS": str(folder),
            "XPROF_HUB_SECRET_KEY": SECRET,
            "XPROF_HUB_OTLP_ENDPOINT": spans.url,
            "XPROF_HUB_TRACE_FRACTION": "0",
            "OTEL_BSP_SCHEDULE_DELAY": "100",
            "XPROF_HUB_SCAN_SECONDS": "0",
            "XPROF_HUB_STOP_SECONDS": "0",
            # What FastAPI could send by itself: paths, with tokens.
            "FASTAPI_OTEL_AUTO_CONFIGURE": "true",
            "OTEL_EXPORTER_OTLP_ENDPOINT": spans.url,
        }
        try:
            worker = factory.start(env | {PORT: str(ports[1])}, only="worker")
            env["XPROF_HUB_WORKERS"] = worker.url
            front = factory.start(env | {PORT: str(ports[0])}, only="front")
            session = copy_of(small_session, folder / "profiles" / SESSION)
            first = min(session.iterdir())
            first.rename(session / f"{HOST}.xplane.pb")
            base = share(front.url, RUN, SESSION, session) + PROFILE_PATH
            yield Watched(front, worker, spans, base, ports, folder / "profiles")
        finally:
            factory.stop_all()


OVERVIEW = "/data?tag=overview_page&host=ALL_HOSTS"


def child_of(parent: CollectedSpan, spans: list[CollectedSpan]) -> list[CollectedSpan]:
    return [span for span in spans if span.parent == parent.span_id]


def test_one_trace_runs_through_front_end_worker_and_child(watched: Watched) -> None:
    headers = watched.ask(OVERVIEW, FIRST)
    assert headers["x-request-id"] == FIRST
    watched.ask("/data?tag=hlo_stats&host=ALL_HOSTS", SECOND, flags="00")
    for trace in (FIRST, SECOND):
        # A request is logged when its last byte has gone, which its reader may see sooner.
        until(partial(watched.has_told, trace))
        front, worker = watched.lines(trace)
        assert [row["status"] for row in front if row["event"] == "request"] == [200]
        children = [row for row in worker if row["logger"] == "xprof_hub.child"]
        assert {row["outcome"] for row in children if row["event"] == "a child ended"} == {"ok"}
        assert all(isinstance(row["pid"], int) for row in children)
        spans = {str(row["span_id"]) for row in front}, {str(row["span_id"]) for row in worker}
        assert [len(ids) for ids in spans] == [1, 1]
        assert spans[0].isdisjoint(spans[1])


def test_spans_of_a_request_hang_together(watched: Watched) -> None:
    spans = watched.collector.wait_for("GET /s/{token}/data/plugin/profile/data")
    spans = watched.collector.wait_for("POST /internal/v1/tool-data")
    # The second request's caller did not want its spans, and no other was to be sent.
    assert {span.trace_id for span in spans} == {FIRST}
    assert watched.collector.paths == {"/v1/traces"}
    (front,) = (span for span in spans if span.service == "xprof-hub-front")
    assert front.parent == CALLER
    assert front.attributes == {
        "http.request.method": "GET",
        "http.route": "/s/{token}/data/plugin/profile/data",
        "http.response.status_code": 200,
    }
    (worker,) = child_of(front, spans)
    assert (worker.service, worker.name) == ("xprof-hub-worker", "POST /internal/v1/tool-data")
    parts = child_of(worker, spans)
    assert {span.name for span in parts} == {f"conversion {part}" for part in PARTS}
    assert len(spans) == 2 + len(parts)
    for span in parts:
        assert front.start <= span.start <= span.end <= front.end
        assert span.attributes["xprof_hub.tool"] == "overview_page"
        assert span.attributes["xprof_hub.outcome"] == "ok"
    read = {span.attributes["xprof_hub.bytes"] for span in parts if "inspect" in span.name}
    session = watched.profiles / SESSION
    assert read == {sum(path.stat().st_size for path in session.iterdir())}


def test_nothing_that_is_told_has_a_name_in_it(watched: Watched) -> None:
    sent = b"".join(watched.collector.bodies).decode("latin-1") + watched.metrics()
    for name in (watched.token, RUN, SESSION, HOST, str(watched.profiles), "ALL_HOSTS"):
        assert name not in sent
    for text in (watched.front.log_text(), watched.worker.log_text()):
        assert watched.token[4:] not in text


LABELS: dict[str, set[str]] = {
    "phase": PARTS,
    "tool": {"overview_page", "hlo_stats"},
    "layer": {"disk", "redis", "artifacts", "kept_answers"},
    "outcome": {"hit", "miss", "failed", "ok", "not_modified", "first", "second"},
    "kind": {"page", "tool_data", "asset", "api", "other"},
    "source": {"profile", "artifact"},
    "urgency": {"person", "prewarm"},
}


def test_labels_are_words_of_tables_whatever_is_asked(watched: Watched) -> None:
    for path in (
        f"/data?tag={HOST}&host={RUN}",
        f"/data?tag=overview_page&host={HOST}-other",
        f"/{HOST}",
        f"/../{RUN}/none",
    ):
        get(watched.base + path)
    get(f"{watched.front.url}/v1/machineLearningRuns/{RUN}/{HOST}")
    get(f"{watched.front.url}/{RUN}?{HOST}", {"traceparent": HOST})
    text = watched.metrics()
    routes = set()
    for name, labels in re.findall(r"^(xprof_hub_\w+)\{(.*)\} ", text, re.M):
        for label, value in re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels):
            if label == "route":
                routes.add(value)
            elif label in LABELS:
                assert value in LABELS[label], (name, label, value)
            else:
                assert label in {"le", "status", "reason", "limit"}, (name, label)
                assert re.fullmatch(r"[a-z_-]+|[\d.e+]+|\+Inf", value), (name, label, value)
    assert not any(name in text for name in (RUN, SESSION, HOST, watched.token))
    assert "none" in routes
    assert "/s/{token}/data/plugin/profile/data" in routes


def test_the_worker_counts_seconds_bytes_and_looks(watched: Watched) -> None:
    text = watched.metrics()
    counted = r'^xprof_hub_phase_seconds_count\{phase="(\w+)",tool="overview_page"\}'
    assert set(re.findall(counted, text, re.M)) == PARTS
    profiles = sum(path.stat().st_size for path in (watched.profiles / SESSION).iterdir())
    moved = re.search(
        r'^xprof_hub_phase_bytes_total\{phase="download",tool="overview_page"\} (\S+)', text, re.M
    )
    assert moved is not None
    assert float(moved[1]) == profiles
    # The second tool was made from the first one's artifact.
    assert 'xprof_hub_cache_lookups_total{layer="artifacts",outcome="hit"} 1.0' in text
    assert 'xprof_hub_first_byte_seconds_count{kind="tool_data"}' in text


def test_an_answer_says_where_its_time_went(watched: Watched) -> None:
    number = r"dur=\d+\.\d"
    assert re.fullmatch(
        f"database;{number}, listing;{number}, cache;desc=hit;{number}",
        watched.ask(OVERVIEW, FIRST, "00")["server-timing"],
    )
    converted = watched.ask("/data?tag=op_profile&host=ALL_HOSTS", FIRST, "00")["server-timing"]
    assert re.fullmatch(
        f"database;{number}, listing;{number}, cache;desc=miss;{number}, worker;{number}",
        converted,
    )


def test_metrics_have_a_port_of_their_own_in_both(watched: Watched) -> None:
    for hub, port in zip((watched.front, watched.worker), watched.ports, strict=True):
        assert http_status(f"{hub.url}/metrics") == 404
        assert http_status(f"http://127.0.0.1:{port}/metrics") == 200
