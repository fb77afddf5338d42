"""Which sessions are hosts of one capture: by times in profiles, else by times in folders' names."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Literal

import pytest

from loader.catalog import HostFile, SessionFiles
from loader.storage.base import StoredFile
from server.sessions.captures import (
    Capture,
    Span,
    are_one_capture,
    find_offers,
    folder_time,
    repeated_hosts,
    span_of,
    strangers,
    worth_reading,
)

SECOND = 1_000_000_000
T0 = 1_769_860_800 * SECOND
"""2026-01-31 12:00:00 UTC (date -u -d '2026-01-31 12:00' +%s)."""


def at(begin: float, end: float, session: str = "s", *hosts: str) -> Capture:
    """A capture from and to so many seconds after T0."""
    span = Span(T0 + int(begin * SECOND), T0 + int(end * SECOND))
    return Capture(session, hosts or (session,), None, span)


def named(session: str, seconds: int, *hosts: str) -> Capture:
    """A capture whose profiles state no times, in a folder named after this second of an hour."""
    minute, second = divmod(seconds, 60)
    return Capture(session, hosts or (session,), datetime(2026, 1, 31, 12, minute, second))


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("gs://b/r/plugins/profile/2026_01_31_12_00_05", datetime(2026, 1, 31, 12, 0, 5)),
        ("/r/plugins/profile/2026_01_31_12_00_05/", datetime(2026, 1, 31, 12, 0, 5)),
        ("/r/20261130_011545_141226", datetime(2026, 11, 30, 1, 15, 45, 141226)),
        ("/r/2026_01_31_12_00_05/vm.xplane.pb", datetime(2026, 1, 31, 12, 0, 5)),
        ("/r/2026_13_31_12_00_05", None),
        ("/r/2026_01_31", None),
        ("/r/x2026_01_31_12_00_05", None),
        ("/r/٢026_01_31_12_00_05", None),
        ("vm.xplane.pb", None),
        ("/r/demo", None),
    ],
)
def test_the_time_in_a_folders_name(location: str, expected: datetime | None) -> None:
    file = StoredFile(f"{location}/vm.xplane.pb", "vm.xplane.pb", 1, "1")
    assert folder_time(SessionFiles((location,), (HostFile("vm", file),))) == expected


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ([(T0, T0 + 5)], Span(T0, T0 + 5)),
        ([(T0, T0 + 5), (T0 - 3, T0 + 1)], Span(T0 - 3, T0 + 5)),
        ([(T0, T0 + 5), (None, None)], Span(T0, T0 + 5)),
        ([(T0, None)], None),
        ([(T0, T0)], None),
        ([(T0 + 1, T0)], None),
        ([(0, T0)], None),
        ([(1, T0)], None),
        ([(-5, 5)], None),
        ([], None),
    ],
)
def test_a_sessions_span_is_that_of_all_hosts_with_possible_times(
    times: list[tuple[int | None, int | None]], expected: Span | None
) -> None:
    assert span_of(times) == expected


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (at(0, 10), at(9, 20), True),
        (at(0, 10), at(2, 3), True),
        (at(0, 10), at(10, 20), False),
        (at(0, 10), at(11, 20), False),
        (named("a", 0), named("b", 60), True),
        (named("a", 0), named("b", 61), False),
        # One states its times and the other doesn't: the names decide, and one has none.
        (at(0, 10), named("b", 0), False),
        (replace(at(0, 10), named=datetime(2026, 1, 31, 12, 0, 30)), named("b", 0), True),
        (Capture("a", ("a",), None), Capture("b", ("b",), None), False),
    ],
)
def test_one_capture(first: Capture, second: Capture, expected: bool) -> None:
    assert are_one_capture(first, second) is expected
    assert are_one_capture(second, first) is expected


def test_profiles_are_not_read_where_hosts_or_names_speak_against() -> None:
    first, later = named("a", 0), replace(named("b", 0), named=datetime(2026, 1, 31, 13, 0, 1))
    for other in (named("b", 3599), Capture("b", ("b",), None)):
        assert worth_reading([first, other]) == [first, other]
    for others in ([], [later], [named("b", 5, "a")]):
        assert worth_reading([first, *others]) == []
    assert worth_reading([first, later, replace(first, session="c", hosts=("c",))]) == [
        first,
        replace(first, session="c", hosts=("c",)),
    ]


def test_four_hosts_in_four_folders_are_one_offer() -> None:
    captures = [at(i, 10 + i, f"s{i}", f"vm{i}") for i in (2, 0, 3, 1)]
    (offer,) = find_offers(captures)
    assert offer.sessions == ("s0", "s1", "s2", "s3")
    assert offer.hosts == ("vm0", "vm1", "vm2", "vm3")
    assert offer.basis == "profile"
    assert offer.start == datetime(2026, 1, 31, 12, 0, 0, tzinfo=UTC)
    assert offer.end == datetime(2026, 1, 31, 12, 0, 13, tzinfo=UTC)
    # The last one began at 3 s and the first one ended at 10 s.
    assert offer.overlap_seconds == 7.0


def test_captures_one_after_the_other_are_offers_of_their_own() -> None:
    captures = [at(100 * n, 100 * n + 9, f"{host}{n}", host) for host in "ab" for n in range(3)]
    assert [offer.sessions for offer in find_offers(captures)] == [
        ("a0", "b0"),
        ("a1", "b1"),
        ("a2", "b2"),
    ]


def test_a_host_is_never_twice_in_an_offer() -> None:
    captures = [at(0, 10, "x", "vm0"), at(1, 11, "y", "vm0"), at(2, 12, "z", "vm1")]
    assert [offer.sessions for offer in find_offers(captures)] == [("x", "z")]
    assert repeated_hosts(captures) == {"vm0": ["x", "y"]}
    assert find_offers(captures[:2]) == []


def test_all_members_of_an_offer_overlap_each_other() -> None:
    """A chain, in which only neighbours overlap, is no capture."""
    captures = [at(0, 10, "a"), at(9, 20, "b"), at(19, 30, "c")]
    assert [offer.sessions for offer in find_offers(captures)] == [("a", "b")]
    pair = strangers(captures)
    assert pair is not None
    assert [capture.session for capture in pair] == ["a", "c"]
    assert strangers(captures[:2]) is None


@pytest.mark.parametrize("known", ["none", "one"])
def test_an_offer_by_names_says_so(known: Literal["none", "one"]) -> None:
    first = named("a", 0)
    if known == "one":
        first = replace(first, span=Span(T0, T0 + SECOND))
    (offer,) = find_offers([first, named("b", 2)])
    assert (offer.basis, offer.overlap_seconds) == ("folderName", None)
    assert (offer.start is None) == (known == "none")
