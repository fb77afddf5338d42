"""How many log lines were lost because nobody read them, as a Prometheus metric of the process."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Metric
from prometheus_client.core import CounterMetricFamily
from prometheus_client.registry import Collector

from server.machine.log_writing import lost_lines


class LogMetrics(Collector):
    """Asks the log when it is asked itself, for the log is there before all metrics."""

    def __init__(self, registry: CollectorRegistry) -> None:
        registry.register(self)

    def collect(self) -> Iterator[Metric]:
        """See prometheus_client."""
        yield CounterMetricFamily(
            "xprof_hub_lost_log_lines",
            "Log lines that were not written, because nobody read them or the disk was full",
            value=lost_lines(),
        )
