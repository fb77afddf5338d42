"""A pool of instances that work off jobs, on a clock of its own: what queues do, without what they mean.

Two ways to wait: at the door of all instances (Cloud Run holds requests back until one has room), or in the
line of the one instance that is the session's (front ends choose workers by rendezvous hashing).
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from bench.capacity_model.scaling import Load, Scaler

Action = Callable[[], None]


class Clock:
    """Simulated time, and what shall happen when."""

    def __init__(self) -> None:
        self.now = 0.0
        self._events: list[tuple[float, int, Action]] = []
        self._count = 0

    def at(self, when: float, action: Action) -> None:
        """Has something happen; what is due at once happens in the order that it was asked for."""
        self._count += 1
        heapq.heappush(self._events, (when, self._count, action))

    def run(self, until: float) -> None:
        """Lets time pass."""
        events = self._events
        while events and events[0][0] <= until:
            self.now, _, action = heapq.heappop(events)
            action()
        self.now = until


@dataclass(slots=True)
class Job:
    """A piece of work.

    Attributes:
        seconds: of one slot.
        session: whose it is; one session goes to one instance.
        done: what happens then.
        is_ahead: whether nobody waits for it; people's go first.
        came: when it was handed in.
    """

    seconds: float
    session: int
    done: Action
    is_ahead: bool = False
    came: float = 0.0


@dataclass(slots=True, eq=False)
class Instance:
    """A process that works on so many jobs at once."""

    number: int
    began: float
    is_ready: bool = False
    is_leaving: bool = False
    busy: int = 0
    busy_ahead: int = 0
    idle_since: float = 0.0
    people: deque[Job] = field(default_factory=deque)
    ahead: deque[Job] = field(default_factory=deque)

    @property
    def is_empty(self) -> bool:
        """Whether it has nothing to do."""
        return not (self.busy or self.people or self.ahead)


@dataclass(frozen=True)
class PoolSpec:
    """What the instances of a pool are.

    Attributes:
        slots: jobs that one works on at once.
        start_seconds: until a new one is ready.
        is_hashed: whether a session has an instance of its own; else whoever has room takes the next job.
    """

    slots: int
    start_seconds: float
    is_hashed: bool


class Pool:
    """Instances, their jobs, and how many there are.

    Args:
        clock: simulated time.
        spec: what the instances are.
        scaler: how many there shall be.
        extra: requests that are in flight besides the pool's own jobs.
        work: works so many seconds, then tells; as fast as the clock goes unless given, else on processors
            that are shared with others.
    """

    def __init__(
        self,
        clock: Clock,
        spec: PoolSpec,
        scaler: Scaler,
        extra: Callable[[], int] = lambda: 0,
        work: Callable[[float, Action], None] | None = None,
    ) -> None:
        self._clock, self._spec, self._scaler, self._extra = clock, spec, scaler, extra
        self._work = work or self._work_alone
        self.instances: list[Instance] = []
        self._people: deque[Job] = deque()
        self._ahead: deque[Job] = deque()
        self._numbers = 0
        self.instance_seconds = 0.0
        self.submitted = self.finished = self.working = self.most = 0
        for _ in range(scaler.least):
            self._start(is_ready=True)
        clock.at(scaler.period, self._look)

    @property
    def in_flight(self) -> int:
        """Jobs that were handed in and are not done."""
        return self.submitted - self.finished

    def submit(self, job: Job) -> None:
        """Hands in a job."""
        job.came = self._clock.now
        self.submitted += 1
        self._start_at_once()
        instance = self._instance_for(job)
        if instance is None:
            (self._ahead if job.is_ahead else self._people).append(job)
        elif instance.is_ready and self._has_room(instance, job.is_ahead):
            self._begin(instance, job)
        else:
            (instance.ahead if job.is_ahead else instance.people).append(job)

    def account(self) -> float:
        """Instance-seconds since the last time that this was asked."""
        now = self._clock.now
        for instance in self.instances:
            self.instance_seconds += now - instance.began
            instance.began = now
        seconds, self.instance_seconds = self.instance_seconds, 0.0
        return seconds

    def _instance_for(self, job: Job) -> Instance | None:
        """Who works on it or has it in its line; None: it waits at the door."""
        ready = [one for one in self.instances if one.is_ready and not one.is_leaving]
        if self._spec.is_hashed:
            return max(ready, key=lambda one: _score(job.session, one.number), default=None)
        free = (one for one in ready if self._has_room(one, job.is_ahead))
        return next(free, None)

    def _has_room(self, instance: Instance, is_ahead: bool) -> bool:
        """Whether a job may begin: what nobody waits for leaves one slot free where there are two."""
        if is_ahead and instance.busy_ahead >= max(1, self._spec.slots - 1):
            return False
        return instance.busy < self._spec.slots

    def _begin(self, instance: Instance, job: Job) -> None:
        instance.busy += 1
        instance.busy_ahead += job.is_ahead
        self.working += 1

        def end() -> None:
            instance.busy -= 1
            instance.busy_ahead -= job.is_ahead
            self.working -= 1
            self.finished += 1
            self._next(instance)
            job.done()

        self._work(job.seconds, end)

    def _work_alone(self, seconds: float, done: Action) -> None:
        self._clock.at(self._clock.now + seconds, done)

    def _next(self, instance: Instance) -> None:
        """Gives an instance with room what waits: its own first, then from the door."""
        while job := self._next_job(instance):
            self._begin(instance, job)
        if instance.is_empty:
            instance.idle_since = self._clock.now
            if instance.is_leaving:
                self._end(instance)

    def _next_job(self, instance: Instance) -> Job | None:
        """What it may begin now; one that leaves takes nothing from the door."""
        for own, door, is_ahead in (
            (instance.people, self._people, False),
            (instance.ahead, self._ahead, True),
        ):
            if not self._has_room(instance, is_ahead):
                continue
            if own:
                return own.popleft()
            if door and not instance.is_leaving:
                return door.popleft()
        return None

    def _start(self, is_ready: bool = False) -> None:
        self._numbers += 1
        instance = Instance(self._numbers, self._clock.now, idle_since=self._clock.now)
        self.instances.append(instance)
        self.most = max(self.most, len(self.instances))

        def ready() -> None:
            if instance.is_leaving:
                return
            instance.is_ready = True
            self._next(instance)

        if is_ready:
            instance.is_ready = True
        else:
            self._clock.at(self._clock.now + self._spec.start_seconds, ready)

    def _start_at_once(self) -> None:
        """Cloud Run starts one when those that are there have no room for one more request."""
        limit = self._scaler.concurrency
        if limit is None or len(self._staying()) >= self._scaler.most:
            return
        if self.in_flight + self._extra() > limit * len(self._staying()):
            self._start()

    def _staying(self) -> list[Instance]:
        return [one for one in self.instances if not one.is_leaving]

    def _look(self) -> None:
        """What the autoscaler does every few seconds."""
        staying = self._staying()
        load = Load(len(staying), self.working, self.in_flight + self._extra())
        desired = self._scaler.desired(self._clock.now, load)
        for _ in range(desired - len(staying)):
            self._start()
        surplus = len(staying) - desired
        if surplus > 0:
            self._remove(staying, surplus)
        self._clock.at(self._clock.now + self._scaler.period, self._look)

    def _remove(self, staying: list[Instance], surplus: int) -> None:
        """Sends instances away, those with least to do first; what they work on is finished.

        A platform that lets idle instances be for a while removes only those.
        """
        patience = self._scaler.idle_seconds
        for instance in sorted(staying, key=lambda one: (one.busy, -one.number))[:surplus]:
            is_idle = instance.is_empty and self._clock.now - instance.idle_since >= patience
            if patience and not is_idle:
                continue
            instance.is_leaving = True
            if instance.is_empty:
                self._end(instance)

    def _end(self, instance: Instance) -> None:
        self.instance_seconds += self._clock.now - instance.began
        self.instances.remove(instance)


def _score(session: int, number: int) -> int:
    """A hash of both, so that a session keeps its instance when another comes or goes."""
    mixed = (session * 0x9E3779B97F4A7C15 + number * 0xC2B2AE3D27D4EB4F) & 0xFFFFFFFFFFFFFFFF
    mixed ^= mixed >> 29
    mixed = mixed * 0xBF58476D1CE4E5B9 & 0xFFFFFFFFFFFFFFFF
    return mixed ^ mixed >> 32
