"""A worker that comes, goes or fails moves its own share of the sessions, and no other."""

from __future__ import annotations

import asyncio
import math
from collections import Counter

import pytest

from server.fleet.addresses import WorkerAddresses

SESSIONS = [f"gs://bucket/runs/{n // 7}/plugins/profile/{n}" for n in range(4000)]
FIVE = [f"http://10.0.0.{n}:8080" for n in range(1, 6)]


def chosen(addresses: WorkerAddresses) -> dict[str, str]:
    """Which worker is asked first for each session."""

    async def ask() -> dict[str, str]:
        return {name: (await addresses.ranked(name))[0] for name in SESSIONS}

    return asyncio.run(ask())


def is_even(count: int, total: int, share: float) -> bool:
    """Whether so many of a total are what an even choice gives: within five standard deviations."""
    return abs(count - total * share) <= 5 * math.sqrt(total * share * (1 - share))


def moved(before: dict[str, str], after: dict[str, str]) -> set[str]:
    return {name for name in SESSIONS if before[name] != after[name]}


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_every_worker_has_an_even_share(count: int) -> None:
    shares = Counter(chosen(WorkerAddresses(FIVE[:count])).values())
    assert set(shares) == set(FIVE[:count])
    assert all(is_even(share, len(SESSIONS), 1 / count) for share in shares.values())


@pytest.mark.parametrize("gone", FIVE)
def test_a_worker_that_goes_leaves_its_share_evenly_to_the_others(gone: str) -> None:
    before = chosen(WorkerAddresses(FIVE))
    after = chosen(WorkerAddresses([url for url in FIVE if url != gone]))
    share = {name for name, url in before.items() if url == gone}
    assert moved(before, after) == share
    heirs = Counter(after[name] for name in share)
    assert all(is_even(heirs[url], len(share), 1 / 4) for url in FIVE if url != gone)


def test_a_worker_that_comes_takes_an_even_share_from_each() -> None:
    before = chosen(WorkerAddresses(FIVE[:4]))
    after = chosen(WorkerAddresses(FIVE))
    taken = moved(before, after)
    assert {after[name] for name in taken} == {FIVE[4]}
    assert is_even(len(taken), len(SESSIONS), 1 / 5)
    givers = Counter(before[name] for name in taken)
    assert all(is_even(givers[url], len(taken), 1 / 4) for url in FIVE[:4])


@pytest.mark.parametrize("is_silent", [False, True])
def test_a_worker_that_fails_is_to_the_others_as_one_that_is_gone_until_it_is_back(
    is_silent: bool,
) -> None:
    now = [100.0]
    addresses = WorkerAddresses(FIVE, lambda: now[0])
    before = chosen(addresses)
    failed = FIVE[2]
    if is_silent:
        addresses.eject_silent(failed)
    else:
        addresses.eject(failed)
    assert chosen(addresses) == chosen(WorkerAddresses([url for url in FIVE if url != failed]))
    now[0] += 11
    assert chosen(addresses) == before


def test_the_order_in_which_workers_are_named_does_not_matter() -> None:
    assert chosen(WorkerAddresses(FIVE)) == chosen(WorkerAddresses(FIVE[::-1]))


def test_a_worker_counts_as_passed_over_once_for_all_who_find_out() -> None:
    now, told = [100.0], list[str]()
    addresses = WorkerAddresses(FIVE, lambda: now[0], on_eject=told.append)
    for _ in range(8):
        addresses.eject(FIVE[0])
    assert told == ["failed"]
    now[0] += 4
    addresses.eject(FIVE[0])
    assert told == ["failed"] * 2
    for _ in range(8):
        addresses.eject_silent(FIVE[1])
    assert told == ["failed", "failed", "silent"]
    now[0] += 11
    addresses.begin(FIVE[1])
    addresses.eject_silent(FIVE[1])  # The one that tried it found it silent again.
    assert told == ["failed", "failed", "silent", "silent"]
