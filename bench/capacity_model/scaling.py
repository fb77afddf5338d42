"""How many instances there shall be: the rules of Cloud Run and of Kubernetes, as pure functions of numbers.

Sources: cloud.google.com/run/docs/about-instance-autoscaling (60% of processors and of concurrency over one
minute, a look every 5 s, an instance at once when none has room, up to 15 minutes of idleness) and
kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale (the formula, 10% tolerance, a look every
15 s, policies, stabilization), both as read on 2026-11-30.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field
from typing import Protocol

_ALMOST = 1e-9


@dataclass(frozen=True)
class Load:
    """What an autoscaler sees of a pool.

    Attributes:
        instances: that are there or start.
        busy: slots that work.
        in_flight: requests that are there, working or waiting.
    """

    instances: int
    busy: float
    in_flight: float


class Scaler(Protocol):
    """Rules of one platform for one pool."""

    period: float
    """Seconds between two looks."""
    least: int
    most: int
    concurrency: int | None
    """Requests of one instance, beyond which another is started at once; None: nothing starts at once."""
    idle_seconds: float
    """How long an instance without work is kept that is one too many."""

    def desired(self, now: float, load: Load) -> int:
        """How many instances there shall be."""


@dataclass
class Fixed:
    """No rules: as many as there are, as on one machine."""

    least: int
    most: int = 100
    period: float = 1e9
    concurrency: int | None = None
    idle_seconds: float = 0.0

    def desired(self, now: float, load: Load) -> int:
        """As many as at the start."""
        del now, load
        return self.least


@dataclass
class CloudRun:
    """Cloud Run's rules.

    Attributes:
        concurrency: most requests of one instance.
        slots: processors of one instance.
        least: instances that are always there.
        most: instances at most.
        target: share of processors and concurrency that shall be in use.
    """

    concurrency: int | None
    slots: int
    least: int
    most: int
    target: float = 0.6
    period: float = 5.0
    idle_seconds: float = 900.0
    window: float = 60.0
    _seen: deque[tuple[float, Load]] = field(default_factory=deque)
    _busy: float = 0.0
    _in_flight: float = 0.0

    def desired(self, now: float, load: Load) -> int:
        """The larger of what processors and concurrency ask for, each averaged over a minute."""
        self._note(load, 1)
        self._seen.append((now, load))
        while self._seen[0][0] <= now - self.window:
            self._note(self._seen.popleft()[1], -1)
        count = len(self._seen)
        wanted = max(
            self._busy / count / (self.slots * self.target),
            self._in_flight / count / ((self.concurrency or math.inf) * self.target),
        )
        return min(self.most, max(self.least, math.ceil(wanted - _ALMOST)))

    def _note(self, load: Load, sign: int) -> None:
        self._busy += sign * load.busy
        self._in_flight += sign * load.in_flight


@dataclass
class HorizontalPods:
    """The rules of a HorizontalPodAutoscaler with two metrics: requests, and busy processors.

    Attributes:
        requests: target of requests in flight for one pod.
        cores: target of busy slots for one pod.
        least: pods that are always there.
        most: pods at most.
        down_window: seconds whose highest recommendation counts before pods are removed.
        down_pods: pods that may go in a minute.
        delay: seconds until a metric is seen.
    """

    requests: float
    cores: float
    least: int
    most: int
    down_window: float
    down_pods: int
    delay: float = 30.0
    tolerance: float = 0.1
    period: float = 15.0
    concurrency: int | None = None
    idle_seconds: float = 0.0
    _seen: deque[tuple[float, Load]] = field(default_factory=deque)
    _recommended: deque[tuple[float, int]] = field(default_factory=deque)
    _went: deque[tuple[float, int]] = field(default_factory=deque)

    def desired(self, now: float, load: Load) -> int:
        """The formula, then the policies for going up, or stabilization and policy for going down."""
        raw = self._formula(load.instances, self._as_seen(now, load))
        self._recommended.append((now, raw))
        while self._recommended[0][0] < now - self.down_window:
            self._recommended.popleft()
        current = load.instances
        if raw > current:
            return min(raw, max(2 * current, current + 4), self.most)
        steady = min(current, max(pods for _, pods in self._recommended))
        while self._went and self._went[0][0] <= now - 60.0:
            self._went.popleft()
        allowed = self.down_pods - sum(pods for _, pods in self._went)
        chosen = max(steady, current - max(0, allowed), self.least)
        if chosen < current:
            self._went.append((now, current - chosen))
        return chosen

    def _as_seen(self, now: float, load: Load) -> Load:
        """The newest load that is as old as metrics are."""
        self._seen.append((now, load))
        while len(self._seen) > 1 and self._seen[1][0] <= now - self.delay:
            self._seen.popleft()
        return self._seen[0][1]

    def _formula(self, current: int, seen: Load) -> int:
        """Pods by the metric that asks for more; as many as now where both are within the tolerance."""
        proposals = []
        for value, target in ((seen.in_flight, self.requests), (seen.busy, self.cores)):
            ratio = value / (current * target) if current else math.inf
            within = abs(ratio - 1.0) <= self.tolerance
            proposals.append(current if within else math.ceil(value / target - _ALMOST))
        return min(self.most, max(self.least, *proposals))
