"""Whose turn it is: by hand, and with many at random who must all be served within the bounds."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

import pytest

from loader.turns.order import Turn, Turns, Urgency

GIB = 1 << 30


@dataclass
class Line:
    """Turns with a clock that is set by hand, and those who wait by name."""

    turns: Turns
    now: float = 0.0
    everyone: dict[str, Turn] = field(default_factory=dict)
    people: set[str] = field(default_factory=set)
    given_up: list[str] = field(default_factory=list)

    def come(
        self,
        name: str,
        gib: float = 1.0,
        urgency: Urgency = Urgency.PERSON,
        session: str | None = None,
    ) -> list[str]:
        """One comes, for a session of its own if none is named; who got a turn by that."""
        if urgency is Urgency.PERSON:
            self.people.add(name)

        def asked() -> Urgency:
            return Urgency.PERSON if name in self.people else Urgency.PREWARM

        self.turns.pass_time(self.now)
        end = partial(self.given_up.append, name)
        self.everyone[name] = Turn(asked, int(gib * GIB), self.now, session or name, end)
        self.turns.join(self.everyone[name])
        return self.granted()

    def prewarm(self, name: str, gib: float = 1.0) -> list[str]:
        return self.come(name, gib, Urgency.PREWARM)

    def end(self, name: str) -> list[str]:
        """One is done; who got a turn by that."""
        self.turns.pass_time(self.now)
        self.turns.leave(self.everyone[name])
        return self.granted()

    def give_up(self) -> list[str]:
        """Tells those that stand in a person's way; who they are."""
        self.given_up.clear()
        for turn in self.turns.give_up():
            turn.give_way()
        return list(self.given_up)

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
    assert each.turns.in_order().index(each.everyone["ahead of time"]) == 1
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
    assert each.turns.in_order().index(each.everyone["a"]) == 0
    assert each.turns.used_bytes == 6 * GIB
    assert each.end("b") == ["a", "c"]


def test_who_needs_less_lets_others_in() -> None:
    each = line(slots=4, gib=10)
    each.come("a", 9)
    each.come("b", 6)
    assert each.turns.resize(each.everyone["a"], 2 * GIB)
    assert each.granted() == ["b"]


def test_a_session_that_is_served_lets_others_go_first() -> None:
    """Forty came at once for one session, and take ten minutes each; others come later."""
    each = line(1)
    for number in range(40):
        each.come(f"many {number}", session="many")
    each.now = 599.0
    each.come("other")
    each.come("third")
    each.now = 600.0
    assert each.end("many 0") == ["other"]
    assert each.end("other") == ["third"]
    # That it had to wait for others counts.
    each.now = 700.0
    each.come("late")
    assert each.end("third") == ["many 1"]
    # But it saves up nothing.
    each.now = 1300.0
    each.come("later")
    assert each.end("many 1") == ["late"]
    each.now = 1301.0
    assert each.end("late") == ["later"]
    assert each.end("later") == ["many 2"]


def test_the_order_within_a_session_is_that_of_all() -> None:
    """It is always being served, and still none of its own small ones overtakes a huge one for ever."""
    each = line(1)
    each.come("running", session="one")
    each.come("huge", 12, session="one")
    running = "running"
    for number in range(20):
        each.now += 10.0
        each.come(f"small {number}", 0.0, session="one")
        (running,) = each.end(running)
        if running == "huge":
            break
    assert running == "huge"
    assert each.now == 120.0


def test_who_is_crowded_out_by_one_session_gets_a_slot_beyond() -> None:
    each = line(2)
    assert each.come("a", session="one") == ["a"]
    assert each.come("b", session="one") == ["b"]
    assert each.come("c", session="one") == []
    each.now = 1.0
    assert each.prewarm("ahead of time") == []
    assert each.come("other") == ["other"]
    assert each.come("third") == []
    assert each.end("a") == []  # back to two
    assert each.end("b") == ["third"]


def test_sessions_that_share_the_slots_crowd_nobody_out() -> None:
    each = line(2)
    each.come("a")
    each.come("b")
    assert each.come("c") == []


def test_a_slot_beyond_needs_memory_too() -> None:
    each = line(2, gib=10)
    each.come("a", 5, session="one")
    each.come("b", 5, session="one")
    assert each.come("other", 1) == []


def test_what_nobody_waits_for_is_given_up_for_a_person_who_needs_the_memory() -> None:
    each = line(slots=8, gib=10)
    for name, gib in (("first", 4.0), ("second", 1.0), ("third", 4.0)):
        each.prewarm(name, gib)
    assert each.give_up() == []
    assert each.come("person", 3) == []
    assert each.give_up() == ["third"]  # the least that will do, of those that began last
    assert each.give_up() == []  # once
    assert each.end("third") == ["person"]


def test_what_nobody_waits_for_is_given_up_for_a_person_who_needs_the_slot() -> None:
    each = line(1)
    each.prewarm("ahead of time")
    assert each.come("person") == []
    assert each.give_up() == ["ahead of time"]
    assert each.end("ahead of time") == ["person"]


def test_nothing_is_given_up_in_vain() -> None:
    each = line(slots=4, gib=10)
    each.come("somebody's", 8)
    each.prewarm("ahead of time", 1)
    each.come("person", 5)
    assert each.give_up() == []
    each.end("somebody's")
    assert each.turns.is_running(each.everyone["person"])


def test_nothing_is_given_up_for_what_nobody_waits_for() -> None:
    each = line(slots=4, gib=10)
    each.prewarm("first", 8)
    each.prewarm("second", 5)
    assert each.give_up() == []


def test_what_a_person_waits_for_is_not_given_up() -> None:
    each = line(slots=4, gib=10)
    each.prewarm("first", 8)
    each.people.add("first")
    each.come("person", 5)
    assert each.give_up() == []


def test_who_joined_what_was_to_end_may_stand_in_the_way_and_the_next_is_found() -> None:
    each = line(slots=8, gib=10)
    each.prewarm("first", 5)
    each.prewarm("second", 5)
    each.come("person", 5)
    assert each.give_up() == ["second"]
    each.people.add("second")
    assert each.give_up() == ["first"]


@pytest.mark.parametrize("seed", range(20))
def test_everyone_is_served_and_nothing_is_exceeded(seed: int) -> None:
    """Of sessions of all sizes; what gives way comes again."""
    chance = random.Random(seed)
    slots, gib = chance.randint(1, 6), 16
    each = line(slots, gib)
    ends: dict[str, float] = {}
    served: list[str] = []

    def note(names: list[str]) -> None:
        for name in names:
            served.append(name)
            ends[name] = each.now + chance.uniform(1, 40)
        assert each.turns.running <= slots + (slots > 1)
        assert each.turns.used_bytes <= gib * GIB
        for name in each.give_up():
            assert name not in each.people
            del ends[name]
            served.remove(name)
            again = each.end(name)
            each.prewarm(name, each.everyone[name].memory_bytes / GIB)
            note(again + each.granted())

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
        session = chance.choice(["busy", "busy", "other", str(number)])
        note(each.come(str(number), chance.choice([0.2, 1, 4, 16]), urgency, session))
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


def test_no_session_starves_however_many_others_keep_coming() -> None:
    """One session always has many waiting; each of the others comes once; a slot is never idle."""
    each = line(1)
    ends: dict[str, float] = {}
    waits: dict[str, float] = {}
    came: dict[str, float] = {}

    def note(names: list[str]) -> None:
        for name in names:
            ends[name] = each.now + 9
            waits[name] = each.now - came[name]

    for second in range(0, 2000):
        each.now = float(second)
        for name in [name for name, end in ends.items() if end <= second]:
            del ends[name]
            note(each.end(name))
        if second % 20 == 0:
            for name, session in ((f"many {second}", "many"), (f"single {second}", None)):
                came[name] = each.now
                note(each.come(name, 0.0, session=session))
        if second == 100:
            for number in range(20):
                came[f"flood {number}"] = each.now
                note(each.come(f"flood {number}", 0.0, session="many"))
    others = [wait for name, wait in waits.items() if name.startswith("single")]
    # Two works of nine seconds at most: what runs, and one of the flood that waited for others.
    assert max(others) <= 18
    assert "many 1000" in waits
