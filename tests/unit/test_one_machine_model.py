"""The capacity model at the size of one machine: shared processors, and people who come back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bench.capacity_model import compared
from bench.capacity_model.measured import MeasuredLoad, SingleCosts, SizeCosts, read_measured
from bench.capacity_model.one_machine import OneMachine
from bench.capacity_model.pool import Clock
from bench.capacity_model.processors import Processors
from bench.load_test.sessions import CLASSES
from bench.visits import Habits

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "capacity.md"
ONLY_FIRST_PAGES = Habits(new_people=0, trace=0, tool=0, zooms=0, windows=1, tools=1)
COSTS = SingleCosts(
    sizes=(SizeCosts("one", 1.0, overview=2.0, trace=1.0, tool=0.5, zoom=0.1),),
    page=0.01,
    file=0.01,
    small=0.01,
    data=0.01,
    relayed=0.01,
    load=0.0,
    first_files=8,
)
ALONE = MeasuredLoad(1, 1, 100.0, 1.0, 0.0, 1, 2, 0.0, 0, 0, (0, 0, 0), 0, 0)


def ends(cores: float, works: list[tuple[float, float]]) -> list[float]:
    """When work ends that begins at some time and takes some seconds of one core."""
    clock, found = Clock(), [0.0] * len(works)
    processors = Processors(clock, cores)

    for number, (begin, seconds) in enumerate(works):

        def end(number: int = number) -> None:
            found[number] = clock.now

        clock.at(begin, lambda seconds=seconds, end=end: processors.run(seconds, end))  # type: ignore[misc]
    clock.run(1000.0)
    assert processors.used == pytest.approx(sum(seconds for _, seconds in works))
    return found


def test_nobody_gets_more_than_a_core() -> None:
    assert ends(2, [(0, 3.0)]) == [3.0]
    assert ends(2, [(0, 3.0), (0, 5.0)]) == pytest.approx([3.0, 5.0])


def test_all_who_work_get_the_same() -> None:
    assert ends(1, [(0, 2.0), (0, 2.0)]) == pytest.approx([4.0, 4.0])
    # Three on two cores, until the first ends after 1.5 s; then each has its own.
    assert ends(2, [(0, 1.0), (0, 2.0), (0, 2.0)]) == pytest.approx([1.5, 2.5, 2.5])
    # The second comes when the first has 1 s left.
    assert ends(1, [(0, 2.0), (1, 1.0)]) == pytest.approx([3.0, 3.0])


def test_one_person_waits_for_the_conversion_once() -> None:
    said = OneMachine(ALONE, COSTS, ONLY_FIRST_PAGES).run()
    # Page, then four requests at once at a front end that answers one at a time: the overview's is the first,
    # its conversion takes 2 s, and the front end hands it on.
    assert said.waits[0] == pytest.approx(0.01 + 0.01 + 2.0 + 0.01)
    assert said.waits[1:] == pytest.approx([0.05] * (len(said.waits) - 1))
    # A turn takes 0.05 s, three small requests, and a pause of 1 s in the mean.
    assert said.openings == pytest.approx((100 - 2) / 1.08, rel=0.05)
    assert said.kept == pytest.approx(1 - 1 / said.openings, abs=0.02)


def test_two_workers_convert_twice_as_much_until_the_cores_are_used_up() -> None:
    many = replace(ALONE, people=20, sessions=100_000)
    rates = [
        OneMachine(replace(many, workers=workers, cores=cores), COSTS, ONLY_FIRST_PAGES)
        .run()
        .openings
        for workers, cores in ((1, 8), (2, 8), (4, 8), (4, 2))
    ]
    assert rates[1] / rates[0] == pytest.approx(2, rel=0.2)
    assert rates[2] / rates[1] == pytest.approx(2, rel=0.2)
    assert rates[3] < 1.15 * rates[1]


def test_what_others_use_is_not_there() -> None:
    many = replace(ALONE, people=20, sessions=100_000, workers=2)
    free, half = (
        OneMachine(replace(many, others=others), COSTS, ONLY_FIRST_PAGES).run().openings
        for others in (0.0, 1.0)
    )
    assert half == pytest.approx(free / 2, rel=0.2)


def test_the_same_seed_gives_the_same() -> None:
    load = replace(ALONE, people=5, sessions=50, job_seconds=5.0)
    habits = Habits(new_people=0.2, trace=0.6, tool=0.5, zooms=2, windows=50, tools=6)
    first, again, other = (OneMachine(load, COSTS, habits, seed).run() for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_the_document_compares_what_was_measured() -> None:
    text = DOCUMENT.read_text()
    shown = text[text.index(compared.BEGIN) : text.index(compared.END) + len(compared.END)]
    assert shown == compared.markdown(read_measured())


def test_the_model_says_what_the_document_says_of_it() -> None:
    """Openings a second: within a third of what was measured, or a half on a machine that others used."""
    measured = read_measured()
    assert [size.name for size in measured.costs.sizes] == [size.name for size in CLASSES]
    for load, said in compared.predict(measured):
        bound = 1 / 3 if load.others < 0.3 else 1 / 2
        assert said.openings / load.seconds == pytest.approx(load.openings, rel=bound)
