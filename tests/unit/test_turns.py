"""Whose turn it is: by hand, and with many at random who must all be served within the bounds."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from loader.turns import Turn, Turns, Urgency

GIB = 1 << 30


@dataclass
class Line:
    """Turns with a clock that is set by hand, and those who wait by name."""

    turns: Turns
    now: float = 0.0
    everyone: dict[str, Turn] = field(default_factory=dict)
    people: set[str] = field(default_factory=set)

    def come(self, name: str, gib: float = 1.0, urgency: Urgency = Urgency.PERSON) -> list[str]:
        """One comes; who got a turn by that."""
        if urgency is Urgency.PERSON:
            self.people.add(name)

        def asked() -> Urgency:
            return Urgency.PERSON if name in self.people else Urgency.PREWARM

        self.everyone[name] = Turn(asked, int(gib * GIB), self.now)
        self.turns.join(self.everyone[name])
        return self.granted()

    def prewarm(self, name: str, gib: float = 1.0) -> list[str]:
        return self.come(name, gib, Urgency.PREWARM)

    def end(self, name: str) -> list[str]:
        """One is done; who got a turn by that."""
        self.turns.leave(self.everyone[name])
        return self.granted()

    def granted(self) -> list[str]:
        names = {id(turn): name for name, turn in self.everyone.items()}
        return [names[id(turn)] for turn in self.turns.grant()]


def line(slots: int, gib: float = 100.0) -> Line:
    return Line(Turns(slots, int(gib * GIB)))


def test_slots_bound_how_many_convert() -> None:
    each = line(2)
    assert [each.come("a"), each.come("b"), each.come("c")] == [["a"], ["b"], []]
    assert each.end("a") == ["c"]


def test_memory_bounds_how_many_convert() -> None:
    each = line(slots=8, gib=10)
    assert [each.come("a", 6), each.come("b", 6), each.end("a")] == [["a"], [], ["b"]]


def test_people_go_before_what_nobody_waits_for() -> None:
    each = line(1)
    each.come("running")
    each.prewarm("ahead of time")
    each.now = 500.0
    each.come("person", 20)
    assert each.turns.ahead(each.everyone["ahead of time"]) == 1
    assert each.end("running") == ["person"]
    assert each.end("person") == ["ahead of time"]


def test_small_goes_before_huge() -> None:
    each = line(1)
    each.come("running")
    each.come("huge", 12)
    each.now = 60.0
    each.come("small", 0.2)
    assert each.end("running") == ["small"]


def test_huge_is_overtaken_only_by_those_who_came_soon_after() -> None:
    each = line(1)
    each.come("running")
    each.come("huge", 40)
    each.now = 121.0
    each.come("small", 0.0)
    assert each.end("running") == ["huge"]


def test_who_is_first_and_does_not_fit_lets_nobody_pass() -> None:
    each = line(slots=4, gib=10)
    each.come("a", 6)
    each.come("huge", 9)
    each.now = 200.0
    assert each.come("small", 1) == []
    assert each.prewarm("ahead of time", 1) == []
    assert each.end("a") == ["huge", "small"]


def test_one_slot_stays_free_for_people() -> None:
    each = line(2)
    assert each.prewarm("first") == ["first"]
    assert each.prewarm("second") == []
    assert each.come("person") == ["person"]
    assert each.end("person") == []
    assert each.end("first") == ["second"]


def test_the_only_slot_is_for_people_first() -> None:
    each = line(1)
    each.come("running")
    each.prewarm("ahead of time")
    each.come("person")
    assert each.end("running") == ["person"]


def test_no_work_ahead_of_time_begins_while_a_person_waits_for_memory() -> None:
    each = line(slots=4, gib=10)
    each.come("a", 8)
    each.come("person", 5)
    assert each.prewarm("ahead of time", 1) == []
    assert each.end("a") == ["person", "ahead of time"]


def test_a_person_who_joins_raises_it() -> None:
    each = line(1)
    each.come("running")
    each.prewarm("first")
    each.prewarm("wanted now")
    each.people.add("wanted now")
    assert each.end("running") == ["wanted now"]


def test_who_needs_more_than_is_free_waits_again_in_its_old_place() -> None:
    each = line(slots=4, gib=10)
    each.come("a", 1)
    each.come("b", 6)
    each.now = 200.0
    each.come("c", 5)
    assert not each.turns.resize(each.everyone["a"], 5 * GIB)
    assert each.turns.ahead(each.everyone["a"]) == 0
    assert each.turns.used_bytes == 6 * GIB
    assert each.end("b") == ["a", "c"]


def test_who_needs_less_lets_others_in() -> None:
    each = line(slots=4, gib=10)
    each.come("a", 9)
    each.come("b", 6)
    assert each.turns.resize(each.everyone["a"], 2 * GIB)
    assert each.granted() == ["b"]


@pytest.mark.parametrize("seed", range(20))
def test_everyone_is_served_and_nothing_is_exceeded(seed: int) -> None:
    chance = random.Random(seed)
    slots, gib = chance.randint(1, 6), 16
    each = line(slots, gib)
    ends: dict[str, float] = {}
    served: list[str] = []

    def note(names: list[str]) -> None:
        for name in names:
            served.append(name)
            ends[name] = each.now + chance.uniform(1, 40)
        assert each.turns.running <= slots
        assert each.turns.used_bytes <= gib * GIB

    def endings(until: float) -> Iterator[str]:
        while ends and min(ends.values()) <= until:
            name = min(ends, key=lambda one: ends[one])
            each.now = max(each.now, ends.pop(name))
            yield name

    for number in range(300):
        coming = each.now + chance.expovariate(1 / 4)
        for name in endings(coming):
            note(each.end(name))
        each.now = max(each.now, coming)
        urgency = chance.choice([Urgency.PERSON, Urgency.PERSON, Urgency.PREWARM])
        note(each.come(str(number), chance.choice([0.2, 1, 4, 16]), urgency))
    for name in endings(float("inf")):
        note(each.end(name))
    assert sorted(served) == sorted(each.everyone)


def test_a_huge_one_is_served_however_many_small_ones_keep_coming() -> None:
    """They come every three seconds for ever, ten seconds each: three of the four slots are never idle."""
    each = line(slots=4, gib=10)
    ends: dict[str, float] = {}

    def note(names: list[str]) -> None:
        ends.update({name: each.now + 10 for name in names})

    for second in range(400):
        each.now = float(second)
        for name in [name for name, end in ends.items() if end <= second]:
            del ends[name]
            note(each.end(name))
        if second == 21:
            note(each.come("huge", 10))
        if second % 3 == 0:
            note(each.come(f"small {second}", 0.1))
        if "huge" in ends:
            break
    # 100 s of handicap for 10 GiB, and then what runs comes to its end.
    assert 21 + 100 <= each.now <= 21 + 100 + 11
