"""What a worker's admission does, as Prometheus metrics."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from loader.turns.admission import Line
from loader.turns.order import Urgency
from server.metrics.buckets import CONVERSION_SECONDS


class AdmissionMetrics:
    """An `AdmissionObserver` that counts; its labels are fixed words.

    How many convert and wait is looked up when the metrics are read, so that it is never old.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self._converting = Gauge(
            "xprof_hub_conversions_in_flight",
            "Conversions under way, by whom they are for (person, prewarm)",
            ["urgency"],
            registry=registry,
        )
        self._oldest_wait = Gauge(
            "xprof_hub_conversion_oldest_wait_seconds",
            "How long the conversion has waited for its turn that has waited longest",
            registry=registry,
        )
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
            buckets=CONVERSION_SECONDS,
            registry=registry,
        )
        self._refused = Counter(
            "xprof_hub_conversions_refused",
            "Conversions that were sent away, by reason (busy, queue_full, needs_larger_worker)",
            ["reason"],
            registry=registry,
        )

    def watch(self, line: Callable[[], Line]) -> None:
        """Reads from here on what an admission says of its line."""

        def converting(urgency: Urgency) -> float:
            return line().converting[urgency]

        def waiting(urgency: Urgency) -> float:
            return line().waiting[urgency]

        for urgency in Urgency:
            label = urgency.value
            self._converting.labels(label).set_function(partial(converting, urgency))
            self._waiting.labels(label).set_function(partial(waiting, urgency))
        self._oldest_wait.set_function(lambda: line().oldest_wait)

    def admitted(self, urgency: Urgency, seconds: float) -> None:
        """See `AdmissionObserver`."""
        self._seconds.labels(urgency.value).observe(seconds)

    def refused(self, reason: str) -> None:
        """See `AdmissionObserver`."""
        self._refused.labels(reason).inc()
