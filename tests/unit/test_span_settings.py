"""Spans are made where a collector is set; without one nothing is loaded that could send any."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from loader.traces import Trace
from server.settings import Settings
from server.tracing.spans import NoSpans, Spans, open_spans
from tests.services.processes import free_port

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
SPAN = "00f067aa0ba902b7"


def settings(endpoint: str, fraction: float = 1.0) -> Settings:
    return Settings.model_validate({"otlp_endpoint": endpoint, "trace_fraction": fraction})


@pytest.fixture
def unreachable() -> Iterator[Spans]:
    """Sends to nobody."""
    spans = open_spans(settings(f"http://127.0.0.1:{free_port()}", 0.0), "front")
    yield spans
    spans.close()


def test_without_a_collector_ids_are_made_and_callers_are_kept() -> None:
    spans = open_spans(settings(""), "front")
    assert isinstance(spans, NoSpans)
    span = spans.begin(Trace(TRACE, SPAN, is_sampled=True))
    assert (span.trace.trace_id, span.trace.is_sampled) == (TRACE, True)
    assert span.trace.span_id != SPAN
    assert spans.begin(None).trace.trace_id != spans.begin(None).trace.trace_id


def test_the_callers_decision_counts_before_our_share(unreachable: Spans) -> None:
    wanted = unreachable.begin(Trace(TRACE, SPAN, is_sampled=True)).trace
    assert (wanted.trace_id, wanted.is_sampled) == (TRACE, True)
    assert not unreachable.begin(None).trace.is_sampled
    all_of_them = open_spans(settings(f"http://127.0.0.1:{free_port()}", 1.0), "front")
    assert all_of_them.begin(None).trace.is_sampled
    unwanted = all_of_them.begin(Trace(TRACE, SPAN, is_sampled=False)).trace
    assert (unwanted.trace_id, unwanted.is_sampled) == (TRACE, False)
    all_of_them.close()


def test_a_flood_of_callers_who_ask_for_spans_is_not_sent(unreachable: Spans) -> None:
    """A stranger sets the flag in `traceparent` as he likes."""
    sampled = [
        unreachable.begin(Trace(f"{number:032x}", SPAN, is_sampled=True)).trace
        for number in range(1, 2001)
    ]
    assert [trace.trace_id for trace in sampled] == [f"{number:032x}" for number in range(1, 2001)]
    # Fifty at once, and five for each second that this loop took.
    assert 50 <= sum(trace.is_sampled for trace in sampled) <= 500


def test_a_worker_sends_what_its_front_end_has_decided_to_send() -> None:
    spans = open_spans(settings(f"http://127.0.0.1:{free_port()}", 0.0), "worker")
    wanted = Trace(TRACE, SPAN, is_sampled=True)
    assert all(spans.begin(wanted).trace.is_sampled for _ in range(500))
    spans.close()


def test_a_collector_that_does_not_answer_is_noticed_by_nobody() -> None:
    spans = open_spans(settings(f"http://127.0.0.1:{free_port()}"), "front")
    for _ in range(5000):  # more than the queue holds
        spans.begin(None).end("GET", "/runs", 200)
    spans.close()


@pytest.mark.parametrize("endpoint", ["collector:4318", "http://", "ftp://collector", "nonsense"])
def test_an_address_that_is_none_is_refused(endpoint: str) -> None:
    with pytest.raises(ValueError, match="XPROF_HUB_OTLP_ENDPOINT must be"):
        open_spans(settings(endpoint), "front")


def test_without_the_extra_the_refusal_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(sys.modules, "server.tracing.otlp", raising=False)
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with pytest.raises(RuntimeError, match=r"pip install 'xprof-hub\[otel\]'"):
        open_spans(settings("http://collector:4318"), "worker")


def test_no_exporter_is_loaded_where_no_collector_is_set() -> None:
    program = (
        "import sys, server.app, server.worker.app\n"
        "own, exporters = 'server.tracing.otlp', 'opentelemetry.exporter'\n"
        "print([name for name in sys.modules if name == own or name.startswith(exporters)])"
    )
    root = Path(__file__).resolve().parents[2]
    told = subprocess.run(
        [sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=True
    )
    assert told.stdout.strip() == "[]"
