"""Which links people open, and what they look at: by the laws that the benches say."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from bench.visits import Habits, class_of, draw_visit, rank_of

HABITS = Habits(new_people=0.2, trace=0.6, tool=0.5, zooms=2, windows=50, tools=6)


def test_links_are_opened_by_zipfs_law() -> None:
    rng, count, draws = random.Random(5), 1000, 100_000
    found = Counter(rank_of(rng.random(), count) for _ in range(draws))
    # By the continuous law, rank k has the share log((k + 2) / (k + 1)) / log(count + 1): the first 10.0%.
    assert found[0] / draws == pytest.approx(0.1003, abs=0.004)
    assert found[1] / draws == pytest.approx(0.0587, abs=0.004)
    assert found[0] / found[9] == pytest.approx(7.27, rel=0.1)
    assert sum(n for rank, n in found.items() if rank < 31) / draws == pytest.approx(0.5, abs=0.01)
    assert max(found) == count - 1


def test_no_chance_leads_beyond_the_links() -> None:
    assert [rank_of(chance, 1) for chance in (0.0, 0.5, 0.999999999)] == [0, 0, 0]
    assert rank_of(0.0, 1000) == 0
    assert rank_of(1 - 2**-53, 1000) in {998, 999}


def test_people_look_at_as_much_as_their_habits_say() -> None:
    rng, draws = random.Random(6), 20_000
    visits = [draw_visit(rng, HABITS) for _ in range(draws)]
    assert sum(visit.has_trace for visit in visits) / draws == pytest.approx(0.6, abs=0.01)
    assert {len(visit.zooms) for visit in visits if visit.has_trace} == {2}
    assert {visit.zooms for visit in visits if not visit.has_trace} == {()}
    assert {window for visit in visits for window in visit.zooms} == set(range(50))
    tools = Counter(visit.tool for visit in visits)
    assert tools.pop(None) / draws == pytest.approx(0.5, abs=0.01)
    assert set(tools) == set(range(6))
    assert min(tools.values()) / draws == pytest.approx(0.5 / 6, abs=0.01)


def test_sessions_keep_their_class_in_any_order() -> None:
    shares = (0.75, 0.2, 0.05)
    found = Counter(class_of(session, shares) for session in range(10_000))
    assert [found[size] / 10_000 for size in range(3)] == pytest.approx(shares, abs=0.002)
    assert class_of(77, shares) == class_of(77, shares)
