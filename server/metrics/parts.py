"""Where the time and the bytes of answers go, and how often caches help, as Prometheus metrics.

All labels are words from fixed tables: a tool is one of XProf's, whatever a request calls it.
"""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Histogram

from loader.observing import CacheLayer, Lookup, PartRecord
from server.metrics.buckets import CONVERSION_SECONDS


class PartMetrics:
    """A `ConversionObserver` that counts."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._seconds = Histogram(
            "xprof_hub_phase_seconds",
            "Time of the parts of conversions (wait, download, inspect, convert, compress, publish)",
            ["phase", "tool"],
            buckets=CONVERSION_SECONDS,
            registry=registry,
        )
        self._bytes = Counter(
            "xprof_hub_phase_bytes",
            "Bytes that the parts of conversions moved or read",
            ["phase", "tool"],
            registry=registry,
        )
        self._lookups = Counter(
            "xprof_hub_cache_lookups",
            "Looks for answers, and for what makes them cheap, by where and by outcome (hit, miss, failed)",
            ["layer", "outcome"],
            registry=registry,
        )

    def part_ended(self, record: PartRecord) -> None:
        """See `ConversionObserver`."""
        self._seconds.labels(record.part.value, record.tool).observe(record.seconds)
        if record.size:
            self._bytes.labels(record.part.value, record.tool).inc(record.size)

    def looked_up(self, layer: CacheLayer, outcome: Lookup) -> None:
        """See `ConversionObserver`; front ends tell of their looks, too."""
        self._lookups.labels(layer.value, outcome.value).inc()
