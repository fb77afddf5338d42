"""Metrics of a process among others of its kind: workers passed over or full, reads asked twice."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge


class FleetMetrics:
    """Counts; the labels are fixed words."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._ejections = Counter(
            "xprof_hub_worker_ejections",
            "Workers passed over for a while, by reason (failed, silent, full)",
            ["reason"],
            registry=registry,
        )
        self._hedged = Counter(
            "xprof_hub_hedged_reads",
            "Reads of kept answers that were asked twice, by whose answer was used (first, second)",
            ["outcome"],
            registry=registry,
        )
        self._disk_full = Gauge(
            "xprof_hub_disk_full",
            "1 while a worker's disk has no room for a conversion to begin, else 0",
            registry=registry,
        )
        for reason in ("failed", "silent", "full"):
            self._ejections.labels(reason)
        for outcome in ("first", "second"):
            self._hedged.labels(outcome)

    def watch_disk(self, has_room: Callable[[], bool]) -> None:
        """Looks from here on, whenever metrics are read, whether a worker's disk has room."""
        self._disk_full.set_function(lambda: float(not has_room()))

    def record_ejection(self, reason: str) -> None:
        """A worker is passed over from now on."""
        self._ejections.labels(reason).inc()

    def record_hedged_read(self, outcome: str) -> None:
        """A slow read was asked a second time."""
        self._hedged.labels(outcome).inc()
