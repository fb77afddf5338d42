"""The capacity model: queues by their formulas, autoscalers by hand, caches and money by arithmetic."""

from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import yaml

from bench.capacity_model import costs, report
from bench.capacity_model.answers import Answers, Results
from bench.capacity_model.pool import Clock, Job, Pool, PoolSpec
from bench.capacity_model.scaling import CloudRun, HorizontalPods, Load
from bench.capacity_model.scenarios import HOURS, PLATFORMS, SCENARIOS, Platform, Scenario, Spike
from bench.capacity_model.simulation import (
    Outcome,
    Simulation,
    bill_of,
    idle_bill,
    percentile,
    profile_of,
)
from tests.contract.rendered_manifests import Table, at, rows, table

ROOT = Path(__file__).resolve().parents[2]
RUN, PODS = PLATFORMS
SMALL = Scenario("a morning", 2_000, 100, 500, 0.04, True, 0.5, 0.1, 1, 1)
"""Two thousand openings a day, of which it plays half a day."""
JOBS = 12_000
"""So many, one after the other, leave the mean an error of 5% (one standard deviation)."""


@dataclass
class Fixed:
    """No autoscaler: as many as there are."""

    least: int
    most: int = 100
    period: float = 1e9
    concurrency: int | None = None
    idle_seconds: float = 0.0

    def desired(self, now: float, load: Load) -> int:
        return self.least


@dataclass
class Told(Fixed):
    """An autoscaler that does as it is told."""

    period: float = 1.0


def mean_wait(servers: int, rate: float, times: list[float], seed: int) -> float:
    """Mean seconds before service of Poisson arrivals at one line before several servers."""
    clock, rng, waits = Clock(), random.Random(seed), list[float]()
    pool = Pool(clock, PoolSpec(servers, 0, is_hashed=False), Fixed(1))
    when = 0.0
    for seconds in times:
        when += rng.expovariate(rate)

        def come(seconds: float = seconds) -> None:
            came = clock.now
            pool.submit(Job(seconds, 0, lambda: waits.append(clock.now - came - seconds)))

        clock.at(when, come)
    clock.run(when + 1e6)
    assert pool.submitted == pool.finished == len(waits) == len(times)
    return sum(waits) / len(waits)


def erlang_c(servers: int, offered: float) -> float:
    """The probability that one waits in an M/M/c queue; `offered` is rate times service time."""
    top = offered**servers / math.factorial(servers) * servers / (servers - offered)
    return top / (sum(offered**k / math.factorial(k) for k in range(servers)) + top)


@pytest.mark.parametrize(("servers", "rate"), [(1, 0.5), (2, 1.2), (4, 2.4)])
def test_a_line_waits_as_long_as_erlangs_formula_says(servers: int, rate: float) -> None:
    rng = random.Random(7)
    times = [rng.expovariate(1.0) for _ in range(JOBS)]
    expected = erlang_c(servers, rate) / (servers - rate)
    assert mean_wait(servers, rate, times, 8) == pytest.approx(expected, rel=0.15)


def test_equal_jobs_wait_half_as_long_as_random_ones() -> None:
    # Pollaczek and Khinchine: rho * s / (2 * (1 - rho)), with s = 1 and rho = 0.6.
    assert mean_wait(1, 0.6, [1.0] * JOBS, 9) == pytest.approx(0.75, rel=0.15)


def test_cloud_run_takes_the_larger_of_processors_and_concurrency() -> None:
    def once(load: Load) -> int:
        return CloudRun(concurrency=80, slots=2, least=1, most=20).desired(0.0, load)

    assert once(Load(1, 0, 0)) == 1
    assert once(Load(5, 6.0, 6)) == 5  # 6 busy of 2 * 60% each
    assert once(Load(5, 6.1, 6)) == 6
    assert once(Load(5, 0, 240)) == 5  # 80 * 60% each
    assert once(Load(5, 0, 10**6)) == 20


def test_cloud_run_averages_over_a_minute() -> None:
    rules = CloudRun(concurrency=80, slots=1, least=0, most=20)
    for second in range(0, 60, 5):
        rules.desired(second, Load(1, 0, 0))
    assert rules.desired(60.0, Load(1, 12, 12)) == 2  # 12 busy, once in 12 looks: 1 / 0.6
    for second in range(65, 125, 5):
        last = rules.desired(second, Load(1, 12, 12))
    assert last == 20


def pods(**changes: float) -> HorizontalPods:
    given = {"requests": 75.0, "cores": 1e9, "least": 1, "most": 100} | changes
    return HorizontalPods(
        given["requests"],
        given["cores"],
        int(given["least"]),
        int(given["most"]),
        down_window=given.get("down_window", 300),
        down_pods=int(given.get("down_pods", 1)),
        delay=given.get("delay", 0.0),
    )


def test_pods_follow_the_formula_of_kubernetes() -> None:
    # The example of kubernetes.io/blog/2025/04/28: 50 pods at 90 of 75 become 60.
    assert pods().desired(0.0, Load(50, 0, 50 * 90)) == 60
    assert pods().desired(0.0, Load(50, 0, 50 * 82)) == 50  # within 10%
    assert pods().desired(0.0, Load(50, 0, 50 * 83)) == 56
    assert pods(requests=1e9, cores=1.5).desired(0.0, Load(2, 6.0, 0)) == 4


def test_pods_at_most_double_or_grow_by_four_at_one_look() -> None:
    assert pods().desired(0.0, Load(2, 0, 75 * 50)) == 6
    assert pods().desired(0.0, Load(20, 0, 75 * 90)) == 40
    assert pods(most=30).desired(0.0, Load(20, 0, 75 * 90)) == 30


def test_pods_go_when_the_window_has_passed_and_one_a_minute() -> None:
    rules = pods(down_window=300)
    assert rules.desired(0.0, Load(8, 0, 75 * 8)) == 8
    looks = {second: rules.desired(float(second), Load(8, 0, 75)) for second in range(15, 301, 15)}
    assert set(looks.values()) == {8}
    assert rules.desired(315.0, Load(8, 0, 75)) == 7
    assert rules.desired(330.0, Load(7, 0, 75)) == 7
    assert rules.desired(375.0, Load(7, 0, 75)) == 6


def test_pods_are_counted_late() -> None:
    rules = pods(delay=30.0)
    assert rules.desired(0.0, Load(1, 0, 75)) == 1
    assert rules.desired(15.0, Load(1, 0, 300)) == 1
    assert rules.desired(30.0, Load(1, 0, 300)) == 1
    assert rules.desired(45.0, Load(1, 0, 300)) == 4


def test_an_instance_that_goes_finishes_its_work() -> None:
    clock, done = Clock(), list[float]()
    scaler = Told(2)
    pool = Pool(clock, PoolSpec(1, 0, is_hashed=False), scaler)
    for _ in range(2):
        pool.submit(Job(10.0, 0, lambda: done.append(clock.now)))
    scaler.least = 0
    clock.run(2.0)
    assert (len(pool.instances), done) == (2, [])
    clock.run(20.0)
    assert (len(pool.instances), done) == (0, [10.0, 10.0])
    assert pool.account() == 20.0


def test_cloud_run_starts_one_at_once_and_keeps_it_for_a_quarter_of_an_hour() -> None:
    clock, done = Clock(), list[float]()
    scaler = CloudRun(concurrency=2, slots=2, least=0, most=5)
    pool = Pool(clock, PoolSpec(2, 8.0, is_hashed=False), scaler)
    for _ in range(3):
        pool.submit(Job(10.0, 0, lambda: done.append(clock.now)))
    assert len(pool.instances) == 2
    clock.run(100.0)
    assert done == [18.0, 18.0, 18.0]
    clock.run(18.0 + 899.0)
    assert len(pool.instances) == 2
    clock.run(18.0 + 906.0)
    assert pool.instances == []


def test_work_ahead_of_time_leaves_a_slot_and_comes_last() -> None:
    clock, done = Clock(), list[str]()
    pool = Pool(clock, PoolSpec(2, 0, is_hashed=False), Fixed(1))
    for name in ("a1", "a2"):
        pool.submit(Job(10.0, 0, lambda name=name: done.append(name), is_ahead=True))  # type: ignore[misc]
    for name in ("p1", "p2"):
        pool.submit(Job(4.0, 0, lambda name=name: done.append(name)))  # type: ignore[misc]
    clock.run(100.0)
    assert done == ["p1", "p2", "a1", "a2"]


def test_another_instance_takes_its_own_share_of_the_sessions_only() -> None:
    before, after = owners(4), owners(5)
    moved = {session for session in before if before[session] != after[session]}
    assert {after[session] for session in moved} == {4}
    assert len(moved) == pytest.approx(len(before) / 5, rel=0.2)
    assert min(Counter(after.values()).values()) > 0.75 * len(before) / 5


def owners(instances: int) -> dict[int, int]:
    """Which instance has which session in its line."""
    found: dict[int, int] = {}
    for session in range(1_000):
        clock = Clock()
        pool = Pool(clock, PoolSpec(1, 0, is_hashed=True), Fixed(instances))
        pool.submit(Job(1.0, session, lambda: None))
        (found[session],) = (n for n, one in enumerate(pool.instances) if one.busy)
    return found


def answers_of(clock: Clock, most_bytes: float = 1e12) -> tuple[Answers, Pool]:
    workers = Pool(clock, PoolSpec(2, 0, is_hashed=False), Fixed(1))
    return Answers(clock, workers, Results(clock, most_bytes), lambda _: costs.PROFILES[0]), workers


def test_a_crowd_has_one_conversion_and_its_followers_wait_for_the_artifact() -> None:
    clock, told = Clock(), list[tuple[str, float]]()
    answers, workers = answers_of(clock)
    for _ in range(100):
        assert not answers.give((1, "overview", 0), lambda: told.append(("page", clock.now)))
    answers.give((1, "tool", 3), lambda: told.append(("tool", clock.now)))
    clock.run(60.0)
    first = 19 / 200 + 3.76  # the download, and the conversion
    assert [name for name, _ in told] == ["page"] * 100 + ["tool"]
    assert [when for _, when in told] == pytest.approx([first] * 100 + [first + 0.65])
    assert workers.finished == 2
    counts = answers.people
    assert (counts.from_profile, counts.joined, counts.from_artifact, counts.hits) == (1, 99, 1, 0)
    assert answers.give((1, "overview", 0), lambda: None)
    assert counts.hits == 1
    assert counts.asked == 102


def test_answers_go_after_a_week_and_are_made_from_the_artifact_then() -> None:
    clock = Clock()
    answers, _ = answers_of(clock)
    answers.give((1, "trace", 0), lambda: None)
    clock.run(7 * 86_400.0)
    assert answers.give((1, "trace", 0), lambda: None)
    clock.run(7 * 86_400.0 + 60)
    assert not answers.give((1, "trace", 0), lambda: None)
    assert answers.people.from_artifact == 1


def test_what_was_used_least_goes_when_there_is_no_room() -> None:
    clock = Clock()
    results = Results(clock, 3 * costs.RESULT_BYTES["trace"])
    for session in range(3):
        results.put((session, "trace", 0))
    assert results.has((0, "trace", 0))
    results.put((3, "trace", 0))
    assert [results.has((session, "trace", 0)) for session in range(4)] == [True, False, True, True]
    assert results.bytes == 3 * costs.RESULT_BYTES["trace"]


@pytest.mark.parametrize("platform", PLATFORMS, ids=lambda one: one.name)
def test_nobody_is_lost(platform: Platform) -> None:
    outcome = Simulation(SMALL, platform).run()
    # Half a day of 2,000, of which the hours say how many fall into it.
    expected = 2_000 * sum(HOURS[:12]) / sum(HOURS)
    assert outcome.opened == pytest.approx(expected, rel=0.15)
    begun, ended = outcome.jobs
    assert 0 <= begun - ended <= 4
    assert 0 <= outcome.opened - outcome.answered <= 4
    assert len(outcome.waits) <= outcome.answered
    # Nobody waits less than the front end works.
    least = costs.PAGE_CPU.value + costs.HTML_CPU.value + costs.STATIC_CPU.value
    assert min(outcome.waits) >= least - 1e-9
    assert outcome.most_fronts >= platform.front.least


def test_the_same_seed_gives_the_same_and_another_another() -> None:
    first, again, other = (Simulation(SMALL, RUN, seed).run() for seed in (3, 3, 4))
    assert first == again
    assert first != other


def test_a_crowd_on_a_new_link_costs_two_conversions() -> None:
    quiet = replace(SMALL, openings=1, attached=0.001, spike=Spike(0.2 * 86_400, 500, 10))
    outcome = Simulation(quiet, RUN).run()
    assert outcome.opened - 500 <= 5
    assert outcome.counts.from_profile == 2  # the overview and the trace
    assert outcome.answered == outcome.opened


def test_eight_front_ends_are_enough_for_a_talk_on_kubernetes() -> None:
    (talk,) = (scenario for scenario in SCENARIOS if scenario.spike)
    two, eight = (
        Simulation(talk, replace(PODS, front=replace(PODS.front, least=least))).run()
        for least in (2, 8)
    )
    assert percentile(two.waits, 0.5) > 10  # docs/capacity.md says both
    assert percentile(eight.waits, 0.5) < 0.2
    # What the first ones wait for is the conversion, which takes 3.8 s.
    assert percentile(eight.waits, 0.95) < 3.8


def test_a_front_end_works_as_long_for_a_first_page_as_was_measured() -> None:
    # 10.64 s of processor time for 200 people: docs/performance.md, "A talk".
    files = costs.FIRST_FILES.value * costs.STATIC_CPU.value
    small = costs.SMALL_ANSWERS.value * costs.SMALL_CPU.value
    assert costs.PAGE_CPU.value + costs.HTML_CPU.value + files + small == pytest.approx(
        10.64 / 200, rel=0.1
    )


def test_classes_have_their_shares() -> None:
    found = Counter(profile_of(session).name for session in range(10_000))
    assert sum(one.share for one in costs.PROFILES) == pytest.approx(1)
    for one in costs.PROFILES:
        assert found[one.name] == pytest.approx(10_000 * one.share, abs=20)


def test_percentiles_are_values_that_occurred() -> None:
    assert [percentile([4, 1, 3, 2], share) for share in (0.5, 0.75, 0.76, 0.99)] == [2, 3, 4, 4]
    assert percentile([], 0.5) == 0


def test_a_bill_is_what_its_parts_cost() -> None:
    outcome = Outcome(
        days=15.2, front_seconds=15.2 * 86_400, worker_seconds=0.5 * 15.2 * 86_400, sent_bytes=5e10
    )
    bill = bill_of(replace(SMALL, terabytes=1), RUN, outcome)
    month = 30.4 * 86_400
    front, worker = 1 * 0.000018 + 1 * 0.000002, 2 * 0.000018 + 12 * 0.000002
    assert bill.compute == pytest.approx(month * (front + 0.5 * worker))
    assert bill.stores == pytest.approx(30.4 * 24 * (0.049 + 0.0413 + 4 * 0.007))
    assert bill.storage == pytest.approx(1300 * 0.020)
    assert bill.network == pytest.approx(30.4 * 24 * 0.025 + 100 * 0.12)
    assert bill.fixed == 0
    assert bill_of(SMALL, PODS, outcome).fixed == pytest.approx(72.96)
    idle = idle_bill(replace(SMALL, terabytes=1), RUN)
    assert idle.compute == pytest.approx(month * front)
    assert idle.total < bill.total


def test_the_model_has_the_numbers_of_the_manifests() -> None:
    front, worker = autoscaler("base/front.yaml"), autoscaler("worker/workers.yaml")
    for found, mine in ((front, PODS.front_scaler()), (worker, PODS.worker_scaler())):
        assert isinstance(mine, HorizontalPods)
        assert (found["minReplicas"], found["maxReplicas"]) == (mine.least, mine.most)
        window = at(found, "behavior.scaleDown.stabilizationWindowSeconds")
        assert window == mine.down_window
        assert rows(at(found, "behavior.scaleUp.policies")) == [
            {"type": "Percent", "value": 100, "periodSeconds": 15},
            {"type": "Pods", "value": 4, "periodSeconds": 15},
        ]
    assert targets(front) == {"requests": "40", "cores": "600m"}
    # 75% of the two processors that each requests are the 1.5 of the model.
    assert targets(worker) == {"requests": "1500m", "cores": 75}
    assert rows(at(worker, "behavior.scaleDown.policies"))[0]["value"] == 1


def autoscaler(path: str) -> Table:
    """What a file's only HorizontalPodAutoscaler is told."""
    contents = yaml.safe_load_all((ROOT / "deploy" / "kubernetes" / path).read_text())
    (found,) = (one["spec"] for one in contents if one["kind"] == "HorizontalPodAutoscaler")
    return table(found)


def targets(scaler: Table) -> Table:
    """Its targets of requests and of processors."""
    found: Table = {}
    for metric in rows(scaler["metrics"]):
        if metric["type"] == "Pods":
            found["requests"] = at(metric, "pods.target.averageValue")
        else:
            target = table(at(metric, "resource.target"))
            found["cores"] = target.get("averageValue") or target.get("averageUtilization")
    return found


def test_the_document_shows_what_the_model_says() -> None:
    """All but the largest scenario, which takes as long as the others together, is played again."""
    text = (ROOT / "docs" / "capacity.md").read_text()
    shown = text[text.index(report.BEGIN) : text.index(report.END)].splitlines()
    for lines in (report.parameter_lines(), report.profile_lines(), report.price_lines()):
        assert not [line for line in lines if line not in shown]
    played = [scenario for scenario in SCENARIOS if scenario.openings <= 1_000]
    results = report.simulate(played)
    expected = [*report.waiting_lines(results), *report.size_lines(results)]
    assert not [line for line in expected if line not in shown]
    for scenario in SCENARIOS:
        for platform in PLATFORMS:
            both = [
                line for line in shown if line.startswith(f"| {scenario.name} | {platform.name} |")
            ]
            assert len(both) == 2
