"""Whose turn it is: the order among those who want to convert, without clocks, threads or waiting.

Everyone names when it came, how much memory it will need and whose session it is for. People are ordered by
the moment they came plus a handicap that grows with that memory: a small conversion overtakes a huge one that
came shortly before, but none that came long before, and whoever is first and does not fit lets nobody pass.
Among sessions, one that was served since counts as having come when that ended, so that one session can't
take all turns however many it asks for at once; within a session the order stays. So nobody starves. Time is
what it is told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from loader.turns.pace import Pace, seconds_to_come_back

_HANDICAP_SECONDS_PER_GIB = 10.0
"""About the time that XProf works for a GiB of its memory (facts: 70 MB, 1.8 GB, 12 s), so that none waits
much longer for those that overtake it than it works itself."""
_LONGEST_HANDICAP_SECONDS = 120.0


class Urgency(StrEnum):
    """For whom an answer is made."""

    PERSON = "person"
    """Somebody waits for it."""
    PREWARM = "prewarm"
    """Nobody does yet; it may wait, and be given up."""


@dataclass(eq=False)
class Turn:
    """One who wants to convert, or does.

    Attributes:
        urgency: for whom, asked again at each look: a person may join.
        memory_bytes: what it will need.
        arrived: when it came, in seconds of any clock.
        session: what it is for; turns of one session share what a session may have.
        give_way: tells it to end, for a person needs its place.
        since: when it came, or when its session was last served since, if that is later.
        waits_since: when it began to wait for the turn that it waits for or has.
        began: when its turn came.
        is_to_end: whether it was told to end.
        is_sent_away: whether a person has its place in the line, unless a person joins it yet.
        is_crowded_out: whether a person of another session has its place, whoever joins it.
    """

    urgency: Callable[[], Urgency]
    memory_bytes: int
    arrived: float
    session: str
    give_way: Callable[[], None]
    since: float = field(init=False)
    waits_since: float = field(init=False)
    began: float = field(init=False)
    is_to_end: bool = False
    is_sent_away: bool = False
    is_crowded_out: bool = False

    def __post_init__(self) -> None:
        """Nothing was served yet since it came."""
        self.since = self.waits_since = self.began = self.arrived

    @property
    def is_prewarm(self) -> bool:
        """Whether nobody waits for it now."""
        return self.urgency() is Urgency.PREWARM

    @property
    def has_no_place(self) -> bool:
        """Whether it is to wait no more."""
        return self.is_crowded_out or (self.is_sent_away and self.is_prewarm)

    @property
    def due(self) -> float:
        """The place in the order among those of the same urgency and session."""
        return self.arrived + self.handicap

    @property
    def rank(self) -> tuple[float, bool]:
        """The place in the order among those of other sessions."""
        return self.since + self.handicap, self.since > self.arrived

    @property
    def handicap(self) -> float:
        """Seconds by which those who came later may overtake it."""
        handicap = self.memory_bytes / (1 << 30) * _HANDICAP_SECONDS_PER_GIB
        return min(handicap, _LONGEST_HANDICAP_SECONDS)


class Turns:
    """Those who wait and those who convert. Not thread-safe.

    Args:
        slots: most conversions at once; one more for who is crowded out by a single session.
        memory_bytes: most memory of all together.
    """

    def __init__(self, slots: int, memory_bytes: int) -> None:
        self.slots = slots
        self.memory_bytes = memory_bytes
        self._waiting: list[Turn] = []
        self._running: list[Turn] = []
        self._pace = Pace()
        self._now = 0.0

    def pass_time(self, now: float) -> None:
        """Notes what time it is; to be called before anything changes."""
        self._now = now
        served = {turn.session for turn in self._running if not turn.is_prewarm}
        for turn in self._waiting:
            if turn.session in served:
                turn.since = max(now, turn.since)

    def join(self, turn: Turn) -> None:
        """Someone new waits."""
        self._waiting.append(turn)

    def leave(self, turn: Turn) -> None:
        """Someone is done, or waits no more."""
        if turn in self._running and not turn.is_to_end:
            self._pace.note(self._now - turn.began)
        for group in (self._waiting, self._running):
            if turn in group:
                group.remove(turn)

    def resize(self, turn: Turn, memory_bytes: int) -> bool:
        """Notes that one who converts needs another amount; if that is not free it waits again: False."""
        self._running.remove(turn)
        turn.memory_bytes = memory_bytes
        fits = self._fits(turn, self._running)
        if not fits:
            turn.waits_since = self._now
        (self._running if fits else self._waiting).append(turn)
        return fits

    def grant(self) -> list[Turn]:
        """Lets everyone convert whose turn it is; those who just got it."""
        granted = []
        for turn in self.in_order():
            if not self._may_run(turn, self._running):
                break
            self._waiting.remove(turn)
            self._running.append(turn)
            turn.began = self._now
            granted.append(turn)
        return granted

    def give_up(self) -> list[Turn]:
        """Those that are to end so that the first in the order, a person, can convert: as few as will do.

        Only such as nobody waits for, those that began last first; none if all of them were not enough.
        """
        first = next(iter(self.in_order()), None)
        if first is None or first.is_prewarm:
            return []
        staying = [turn for turn in self._running if not (turn.is_to_end and turn.is_prewarm)]
        candidates = [turn for turn in staying if turn.is_prewarm]
        chosen = []
        while not self._may_run(first, staying):
            if not candidates:
                return []
            chosen.append(candidates.pop())
            staying.remove(chosen[-1])
        for turn in chosen:
            turn.is_to_end = True
        return chosen

    def crowd_out(self, newcomer: Turn, most: int) -> Turn | None:
        """Who has no place in a line of so many, now that somebody has joined it; None when all have.

        A person takes the place of the last of those whom nobody waits for, or else of the last one of the
        session that has most places, if its own has fewer: so no session keeps the others out of the line.
        """
        line = self.in_order()
        if newcomer not in line or len(line) <= most:
            return None
        if newcomer.is_prewarm:
            return newcomer
        for turn in reversed(line):
            if turn.is_prewarm:
                turn.is_sent_away = True
                return turn
        places = Counter(turn.session for turn in line)
        session, most_places = places.most_common(1)[0]
        if places[newcomer.session] == most_places:
            return newcomer
        for turn in reversed(line):
            # One that gave its turn back has done a part of its work already.
            if turn.session == session and turn.waits_since == turn.arrived:
                turn.is_crowded_out = True
                return turn
        return newcomer

    def in_order(self) -> list[Turn]:
        """Those that wait, the next one first."""
        ranked = []
        last: dict[tuple[bool, str], tuple[float, bool]] = {}
        waiting = (turn for turn in self._waiting if not turn.has_no_place)
        for turn in sorted(waiting, key=lambda one: one.due):
            group = (turn.is_prewarm, turn.session)
            # Never before those of its own session that go before it.
            last[group] = max(turn.rank, last.get(group, turn.rank))
            ranked.append((group[0], last[group], turn.due, turn))
        return [turn for _, _, _, turn in sorted(ranked, key=lambda rank: rank[:3])]

    def is_running(self, turn: Turn) -> bool:
        """Whether it has its turn."""
        return turn in self._running

    def waiting(self, urgency: Urgency) -> int:
        """How many of an urgency wait."""
        return sum(turn.urgency() is urgency for turn in self._waiting if not turn.has_no_place)

    @property
    def running(self) -> int:
        """How many convert."""
        return len(self._running)

    def converting(self, urgency: Urgency) -> int:
        """How many of an urgency convert."""
        return sum(turn.urgency() is urgency for turn in self._running)

    @property
    def oldest_wait(self) -> float:
        """How long the one has waited who has waited longest; 0 when nobody does."""
        waits = (self._now - turn.waits_since for turn in self._waiting)
        return max(waits, default=0.0)

    def seconds_to_come_back(self, turn: Turn) -> int:
        """When one that is sent away now is likely to find a place."""
        ages = [max(self._now - turn.began, self._pace.seconds) for turn in self._running]
        each = sum(ages) / len(ages) if ages else self._pace.seconds
        ahead = len([one for one in self._waiting if one is not turn]) + len(self._running)
        return seconds_to_come_back(ahead, self.slots, each)

    @property
    def used_bytes(self) -> int:
        """What those who convert need together."""
        return sum(turn.memory_bytes for turn in self._running)

    def _may_run(self, turn: Turn, running: Sequence[Turn]) -> bool:
        """Whether the first in the order may convert beside these: with a prewarm first, no person waits."""
        return len(running) < self._slots_for(turn, running) and self._fits(turn, running)

    def _slots_for(self, turn: Turn, running: Sequence[Turn]) -> int:
        """How many may convert, this one among them."""
        if self.slots == 1:
            return 1
        if turn.is_prewarm:
            return self.slots - 1
        sessions = Counter(one.session for one in running if not one.is_prewarm)
        most = max(sessions.values(), default=0)
        is_crowded_out = 2 * most > self.slots and turn.session not in sessions
        return self.slots + 1 if is_crowded_out else self.slots

    def _fits(self, turn: Turn, running: Sequence[Turn]) -> bool:
        used = sum(one.memory_bytes for one in running)
        return not running or used + turn.memory_bytes <= self.memory_bytes
