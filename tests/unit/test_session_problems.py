"""The count of hosts, and the sentence about those that are missing or damaged."""

from __future__ import annotations

from server.sessions.problems import HostCount, count_hosts, problem_of
from server.sessions.schemas import HostHealth


def row(host: str, *hostnames: str, reason: str | None = None) -> HostHealth:
    return HostHealth(
        host=host,
        file=f"{host}.xplane.pb",
        size=1,
        usable=reason is None,
        reason=reason,
        message=reason and "it ends too early",
        hostnames=hostnames,
    )


def test_nobody_said_how_many() -> None:
    rows = [row("a", "a"), row("b", "b")]
    assert count_hosts(None, ("a", "b"), rows) == HostCount(None, ("a", "b"))
    assert problem_of(count_hosts(None, ("a", "b"), rows), rows) is None


def test_the_maker_said_how_many() -> None:
    count = count_hosts(4, ("a", "b", "c"))
    assert (count.expected, count.missing) == (4, ())
    problem = problem_of(count)
    assert problem is not None
    assert problem.reason == "missing_hosts"
    assert problem.message.startswith("Only 3 of 4 hosts are here so far. The others")
    assert problem_of(count_hosts(3, ("a", "b", "c"))) is None
    assert problem_of(count_hosts(2, ("a", "b", "c"))) is None


def test_a_profile_names_the_hosts() -> None:
    rows = [row("a", "a", "b", "c"), row("b", "b")]
    count = count_hosts(None, ("a", "b"), rows)
    assert count == HostCount(3, ("a", "b"), ("c",))
    problem = problem_of(count, rows)
    assert problem is not None
    assert problem.reason == "missing_hosts"
    assert problem.message.startswith("Only 2 of 3 hosts are here so far. Missing: c.")


def test_the_greater_count_counts() -> None:
    rows = [row("a", "a", "b")]
    assert count_hosts(4, ("a",), rows) == HostCount(4, ("a",), ("b",))
    assert count_hosts(1, ("a",), rows) == HostCount(2, ("a",), ("b",))


def test_a_file_that_holds_several_hosts_itself_states_nothing() -> None:
    assert count_hosts(None, ("all",), [row("all", "a", "b")]) == HostCount(None, ("all",))


def test_complete_by_the_profiles_own_word() -> None:
    rows = [row("a", "a", "b"), row("b", "a", "b")]
    assert count_hosts(None, ("a", "b"), rows) == HostCount(2, ("a", "b"))


def test_damaged_hosts_are_named_with_their_reason() -> None:
    rows = [row("a"), row("b", reason="malformed"), row("c", reason="incomplete")]
    problem = problem_of(count_hosts(3, ("a", "b", "c"), rows), rows)
    assert problem is not None
    # An upload under way passes by itself: a program that sees this reason asks again.
    assert problem.reason == "incomplete"
    assert problem.message == (
        "1 of 3 files can be shown. c: it ends too early; b: it ends too early"
    )


def test_missing_and_damaged_hosts_are_both_said() -> None:
    rows = [row("a"), row("b", reason="malformed")]
    problem = problem_of(count_hosts(3, ("a", "b"), rows), rows)
    assert problem is not None
    assert problem.reason == "missing_hosts"
    assert "Only 2 of 3 hosts" in problem.message
    assert "b: it ends too early" in problem.message
