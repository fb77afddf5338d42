"""What a worker's metrics say of the engine's runs: how many, how long, how large."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Histogram

from loader.observing import ConversionRecord
from server.metrics.buckets import CONVERSION_SECONDS, MEMORY_MEGABYTES, MEMORY_RATIOS


class ConversionMetrics:
    """Counts runs of the engine; labels never hold names of runs, sessions or hosts."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._runs = Counter(
            "xprof_hub_conversions",
            "Engine runs by tool, by what was read (profile or artifact) and by outcome",
            ["tool", "source", "outcome"],
            registry=registry,
        )
        self._seconds = Histogram(
            "xprof_hub_conversion_seconds",
            "Wall clock of engine runs",
            ["source"],
            buckets=CONVERSION_SECONDS,
            registry=registry,
        )
        self._cpu = Counter(
            "xprof_hub_conversion_cpu_seconds",
            "CPU time of engine runs",
            ["source"],
            registry=registry,
        )
        self._ratio = Histogram(
            "xprof_hub_conversion_memory_ratio",
            "Largest resident size of engine runs as a share of what was set aside for them",
            ["source"],
            buckets=MEMORY_RATIOS,
            registry=registry,
        )
        self._memory = Histogram(
            "xprof_hub_conversion_peak_megabytes",
            "Largest resident size of engine runs",
            ["source"],
            buckets=MEMORY_MEGABYTES,
            registry=registry,
        )

    def record(self, record: ConversionRecord) -> None:
        """Counts one engine run."""
        self._runs.labels(record.tool, record.source, record.outcome).inc()
        if record.converted is not None:
            self._seconds.labels(record.source).observe(record.converted.seconds)
            self._cpu.labels(record.source).inc(record.converted.cpu_seconds)
            peak = record.converted.peak_memory_bytes
            self._memory.labels(record.source).observe(peak / 1e6)
            self._ratio.labels(record.source).observe(peak / max(record.reserved_bytes, 1))
