"""Prometheus metrics of one process, in a registry of their own."""

from __future__ import annotations

from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from server.metrics.admission import AdmissionMetrics
from server.metrics.buckets import FIRST_BYTE_SECONDS
from server.metrics.conversions import ConversionMetrics
from server.metrics.discovery import DiscoveryMetrics
from server.metrics.fleet import FleetMetrics
from server.metrics.logs import LogMetrics
from server.metrics.parts import PartMetrics

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """The counters of a front end or a worker; labels never hold names of runs, sessions or hosts."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        count = partial(Counter, registry=self.registry)
        self.requests = count(
            "xprof_hub_requests", "Requests by route and status", ["route", "status"]
        )
        self.in_flight = Gauge(
            "xprof_hub_requests_in_flight", "Requests being answered", registry=self.registry
        )
        self.first_byte = Histogram(
            "xprof_hub_first_byte_seconds",
            "Time until an answer began, by its kind (page, tool_data, asset, api, other)",
            ["kind"],
            buckets=FIRST_BYTE_SECONDS,
            registry=self.registry,
        )
        self.results = count(
            "xprof_hub_results",
            "Lookups of finished answers by outcome (hit, miss, not_modified)",
            ["outcome"],
        )
        self.worker_retries = count(
            "xprof_hub_worker_retries", "Requests sent to another worker after a failure"
        )
        self.prewarms = count(
            "xprof_hub_prewarms",
            "Sessions converted in advance by how it ended (done, cancelled, failed)",
            ["outcome"],
        )
        self.lost_registrations = count(
            "xprof_hub_lost_registrations",
            "Jobs that were told to go on although their registration could not be stored",
        )
        self.fast_attempts = count(
            "xprof_hub_fast_attempts",
            "Runs of xprof-rs by outcome: answered, or why XProf was asked instead",
            ["tool", "outcome"],
        )
        self.shadow_comparisons = count(
            "xprof_hub_shadow_comparisons",
            "Answers of xprof-rs compared with XProf's by outcome (equal, different, failed)",
            ["tool", "outcome"],
        )
        self.refused_requests = count(
            "xprof_hub_refused_requests",
            "Requests that went over a limit against guessing or flooding",
            ["limit"],
        )
        self.discovery = DiscoveryMetrics(self.registry)
        self.fleet = FleetMetrics(self.registry)
        self.admission = AdmissionMetrics(self.registry)
        self.conversions = ConversionMetrics(self.registry)
        self.parts = PartMetrics(self.registry)
        self.logs = LogMetrics(self.registry)

    def record_prewarm(self, outcome: str) -> None:
        """Counts one session that was converted in advance, or was not."""
        self.prewarms.labels(outcome).inc()

    def record_fast_attempt(self, tool: str, outcome: str) -> None:
        """Counts one run of xprof-rs."""
        self.fast_attempts.labels(tool, outcome).inc()

    def record_shadow_comparison(self, tool: str, outcome: str) -> None:
        """Counts one answer of xprof-rs that was compared with XProf's."""
        self.shadow_comparisons.labels(tool, outcome).inc()

    def record_refused_request(self, limit: str) -> None:
        """Counts one request that was answered 429."""
        self.refused_requests.labels(limit).inc()

    def text(self) -> bytes:
        """All metrics in Prometheus' text format."""
        return generate_latest(self.registry)
