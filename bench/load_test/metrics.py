"""What the hub's own metrics say of a load; a metric that a process does not have counts nothing."""

from __future__ import annotations

import urllib.error
import urllib.request
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from prometheus_client.parser import text_string_to_metric_families

Series = tuple[str, tuple[tuple[str, str], ...]]
Reading = Mapping[Series, float]
LOOKUPS = "xprof_hub_cache_lookups_total"
RESULTS = "xprof_hub_results_total"
CONVERSIONS = "xprof_hub_conversions_total"
REFUSED = "xprof_hub_conversions_refused_total"
RETRIES = "xprof_hub_worker_retries_total"
EJECTIONS = "xprof_hub_worker_ejections_total"


def read_metrics(url: str) -> Reading:
    """All counters and gauges of a process; nothing of one that does not answer."""
    try:
        with urllib.request.urlopen(f"{url}/metrics", timeout=10) as answer:
            text = answer.read().decode()
    except urllib.error.URLError:
        return {}
    return parse(text)


def parse(text: str) -> Reading:
    """The values of a page of metrics."""
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): float(sample.value)
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def gained(before: Reading, after: Reading) -> Reading:
    """What counters have gained; a process that was started again counts from its start."""
    return {
        series: value - before.get(series, 0.0) if value >= before.get(series, 0.0) else value
        for series, value in after.items()
    }


def together(readings: Iterable[Reading]) -> Reading:
    """The sum over processes."""
    total: defaultdict[Series, float] = defaultdict(float)
    for reading in readings:
        for series, value in reading.items():
            total[series] += value
    return total


def by_label(reading: Reading, name: str, label: str, **where: str) -> dict[str, float]:
    """Sums of a metric by the values of a label, of those series whose other labels are as said."""
    found: defaultdict[str, float] = defaultdict(float)
    for (each, labels), value in reading.items():
        values = dict(labels)
        if each == name and all(values.get(key) == wanted for key, wanted in where.items()):
            found[values.get(label, "")] += value
    return dict(found)


def total(reading: Reading, name: str, **where: str) -> float:
    """The sum of a metric over its series whose labels are as said."""
    return sum(by_label(reading, name, "", **where).values())


@dataclass(frozen=True)
class HitRate:
    """Lookups in one layer of caches.

    Attributes:
        layer: in words.
        hits: lookups that found something.
        asked: all lookups.
    """

    layer: str
    hits: int
    asked: int

    @property
    def share(self) -> float:
        """Of lookups that found something; 0 of none."""
        return self.hits / self.asked if self.asked else 0.0


def hit_rates(front: Reading, workers: Reading) -> list[HitRate]:
    """The front end's answers, then every layer that the processes count lookups of."""
    answers = by_label(front, RESULTS, "outcome")
    kept = answers.get("hit", 0) + answers.get("not_modified", 0)
    found = [HitRate("answers, at the front end", int(kept), int(sum(answers.values())))]
    for where, reading in (("front end", front), ("workers", workers)):
        for layer in sorted(by_label(reading, LOOKUPS, "layer")):
            outcomes = by_label(reading, LOOKUPS, "outcome", layer=layer)
            asked = int(sum(outcomes.values()))
            if asked:
                found.append(
                    HitRate(f"{layer}, at the {where}", int(outcomes.get("hit", 0)), asked)
                )
    return found
