"""Metrics of one process among others of its kind: workers passed over, reads that were asked twice."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter


class FleetMetrics:
    """Counts; the labels are fixed words."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._ejections = Counter(
            "xprof_hub_worker_ejections",
            "Workers passed over for a while, by reason (failed, silent)",
            ["reason"],
            registry=registry,
        )
        self._hedged = Counter(
            "xprof_hub_hedged_reads",
            "Reads of kept answers that were asked twice, by whose answer was used (first, second)",
            ["outcome"],
            registry=registry,
        )
        for reason in ("failed", "silent"):
            self._ejections.labels(reason)
        for outcome in ("first", "second"):
            self._hedged.labels(outcome)

    def record_ejection(self, reason: str) -> None:
        """A worker is passed over from now on."""
        self._ejections.labels(reason).inc()

    def record_hedged_read(self, outcome: str) -> None:
        """A slow read was asked a second time."""
        self._hedged.labels(outcome).inc()
