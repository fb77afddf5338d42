"""Conversions as metrics and as spans: what a worker's loader is given to tell of them."""

from __future__ import annotations

from loader.observing import CacheLayer, Lookup, PartRecord
from server.metrics.parts import PartMetrics
from server.tracing.spans import Spans


class ObservedConversions:
    """A `ConversionObserver` for both."""

    def __init__(self, metrics: PartMetrics, spans: Spans) -> None:
        self._metrics = metrics
        self._spans = spans

    def part_ended(self, record: PartRecord) -> None:
        """See `ConversionObserver`."""
        self._metrics.part_ended(record)
        self._spans.part(record)

    def looked_up(self, layer: CacheLayer, outcome: Lookup) -> None:
        """See `ConversionObserver`."""
        self._metrics.looked_up(layer, outcome)
