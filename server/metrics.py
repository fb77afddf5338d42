"""Prometheus metrics of one process, in a registry of their own."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from loader.conversion import ConversionRecord
from server.admission_metrics import AdmissionMetrics

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600)
_RATIOS = (0.1, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 4.0)
_MEGABYTES = (64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384)


class Metrics:
    """The counters of a front end or a worker; labels never hold names of runs, sessions or hosts."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self.requests = Counter(
            "xprof_hub_requests",
            "Requests by route and status",
            ["route", "status"],
            registry=self._registry,
        )
        self.in_flight = Gauge(
            "xprof_hub_requests_in_flight", "Requests being answered", registry=self._registry
        )
        self.results = Counter(
            "xprof_hub_results",
            "Lookups of finished answers by outcome (hit, miss, not_modified)",
            ["outcome"],
            registry=self._registry,
        )
        self.worker_retries = Counter(
            "xprof_hub_worker_retries",
            "Requests sent to another worker after a failure",
            registry=self._registry,
        )
        self.prewarms = Counter(
            "xprof_hub_prewarms",
            "Sessions converted in advance by how it ended (done, cancelled, failed)",
            ["outcome"],
            registry=self._registry,
        )
        self.conversions = Counter(
            "xprof_hub_conversions",
            "Engine runs by tool, by what was read (profile or artifact) and by outcome",
            ["tool", "source", "outcome"],
            registry=self._registry,
        )
        self._seconds = Histogram(
            "xprof_hub_conversion_seconds",
            "Wall clock of engine runs",
            ["source"],
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._cpu = Counter(
            "xprof_hub_conversion_cpu_seconds",
            "CPU time of engine runs",
            ["source"],
            registry=self._registry,
        )
        self.fast_attempts = Counter(
            "xprof_hub_fast_attempts",
            "Runs of xprof-rs by outcome: answered, or why XProf was asked instead",
            ["tool", "outcome"],
            registry=self._registry,
        )
        self.shadow_comparisons = Counter(
            "xprof_hub_shadow_comparisons",
            "Answers of xprof-rs compared with XProf's by outcome (equal, different, failed)",
            ["tool", "outcome"],
            registry=self._registry,
        )
        self.admission = AdmissionMetrics(self._registry)
        self._ratio = Histogram(
            "xprof_hub_conversion_memory_ratio",
            "Largest resident size of engine runs as a share of what was set aside for them",
            ["source"],
            buckets=_RATIOS,
            registry=self._registry,
        )
        self._memory = Histogram(
            "xprof_hub_conversion_peak_megabytes",
            "Largest resident size of engine runs",
            ["source"],
            buckets=_MEGABYTES,
            registry=self._registry,
        )

    def record_prewarm(self, outcome: str) -> None:
        """Counts one session that was converted in advance, or was not."""
        self.prewarms.labels(outcome).inc()

    def record_conversion(self, record: ConversionRecord) -> None:
        """Counts one engine run."""
        self.conversions.labels(record.tool, record.source, record.outcome).inc()
        if record.converted is not None:
            self._seconds.labels(record.source).observe(record.converted.seconds)
            self._cpu.labels(record.source).inc(record.converted.cpu_seconds)
            peak = record.converted.peak_memory_bytes
            self._memory.labels(record.source).observe(peak / 1e6)
            self._ratio.labels(record.source).observe(peak / max(record.reserved_bytes, 1))

    def record_fast_attempt(self, tool: str, outcome: str) -> None:
        """Counts one run of xprof-rs."""
        self.fast_attempts.labels(tool, outcome).inc()

    def record_shadow_comparison(self, tool: str, outcome: str) -> None:
        """Counts one answer of xprof-rs that was compared with XProf's."""
        self.shadow_comparisons.labels(tool, outcome).inc()

    def text(self) -> bytes:
        """All metrics in Prometheus' text format."""
        return generate_latest(self._registry)
