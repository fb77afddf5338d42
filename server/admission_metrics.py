"""What a worker's admission does, as Prometheus metrics."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from loader.turns import Urgency

_SECONDS = (0.01, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600)


class AdmissionMetrics:
    """An `AdmissionObserver` that counts; its labels are fixed words."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._waiting = Gauge(
            "xprof_hub_conversions_waiting",
            "Conversions that wait for their turn, by whom they are for (person, prewarm)",
            ["urgency"],
            registry=registry,
        )
        self._seconds = Histogram(
            "xprof_hub_conversion_wait_seconds",
            "How long conversions waited for their turn",
            ["urgency"],
            buckets=_SECONDS,
            registry=registry,
        )
        self._refused = Counter(
            "xprof_hub_conversions_refused",
            "Conversions that were sent away, by reason (busy, needs_larger_worker)",
            ["reason"],
            registry=registry,
        )

    def waiting(self, urgency: Urgency, count: int) -> None:
        """See `AdmissionObserver`."""
        self._waiting.labels(urgency.value).set(count)

    def admitted(self, urgency: Urgency, seconds: float) -> None:
        """See `AdmissionObserver`."""
        self._seconds.labels(urgency.value).observe(seconds)

    def refused(self, reason: str) -> None:
        """See `AdmissionObserver`."""
        self._refused.labels(reason).inc()
