"""What discovery does, as Prometheus metrics; labels are fixed words.

Not in `server.discovery`, because workers have these counters too, and load no database.
"""

from __future__ import annotations

from datetime import datetime

from prometheus_client import CollectorRegistry, Counter, Gauge


class DiscoveryMetrics:
    """Counts looks, listings, what was found, and notifications."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._looks = Counter(
            "xprof_hub_scan_looks",
            "Looks at folders by kind (root, folder, run, session) and outcome (new, unchanged, failed)",
            ["kind", "outcome"],
            registry=registry,
        )
        self._listings = Counter(
            "xprof_hub_scan_listings",
            "Listings that discovery asked storage for",
            registry=registry,
        )
        self._found = Counter(
            "xprof_hub_scan_found",
            "What discovery did: run (adopted), session (registered), complete, lost, reopened",
            ["what"],
            registry=registry,
        )
        self._pass = Gauge(
            "xprof_hub_scan_last_pass_timestamp_seconds",
            "When this front end last finished a pass through a scan root, in Unix seconds",
            registry=registry,
        )
        self._notifications = Counter(
            "xprof_hub_notifications",
            "Notifications of buckets by outcome (taken, ignored, refused)",
            ["outcome"],
            registry=registry,
        )

    def looked(self, kind: str, outcome: str) -> None:
        """Counts a look."""
        self._looks.labels(kind.lower(), outcome).inc()

    def listed(self) -> None:
        """Counts a listing."""
        self._listings.inc()

    def found(self, what: str, count: int = 1) -> None:
        """Counts what was done."""
        self._found.labels(what).inc(count)

    def finished_pass(self, now: datetime) -> None:
        """Notes the end of a pass through a root."""
        self._pass.set(now.timestamp())

    def notified(self, outcome: str) -> None:
        """Counts a notification."""
        self._notifications.labels(outcome).inc()
