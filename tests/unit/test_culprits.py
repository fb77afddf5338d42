"""How the hosts at fault are found: each is tried alone, and nobody is left out on hearsay."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from loader.conversion.culprits import Culprits
from loader.errors import ErrorCode, LoaderError

HOSTS = ("a", "b", "c", "d", "e", "f")


def problem(code: ErrorCode, host: str | None = None) -> LoaderError:
    return LoaderError(code, f"on purpose, of {host}", f"{host}.xplane.pb" if host else None)


CRASH = problem(ErrorCode.ENGINE_CRASHED)
UNREADABLE = problem(ErrorCode.MALFORMED)


def failing(codes: Mapping[str, ErrorCode], tried: list[str]) -> Callable[[str, float], None]:
    """Tries that fail on these hosts."""

    def try_alone(host: str, _seconds: float) -> None:
        tried.append(host)
        if host in codes:
            raise problem(codes[host], host)

    return try_alone


@pytest.mark.parametrize("code", [ErrorCode.ENGINE_CRASHED, ErrorCode.MALFORMED])
def test_all_are_tried_when_none_is_named(code: ErrorCode) -> None:
    tried: list[str] = []
    culprits = Culprits(failing({"b": code, "e": code}, tried))
    culprits.search(problem(code), HOSTS)
    assert tried == list(HOSTS)
    assert {host: error.file for host, error in culprits.found.items()} == {
        "b": "b.xplane.pb",
        "e": "e.xplane.pb",
    }


def test_a_named_one_is_tried_before_the_others() -> None:
    tried: list[str] = []
    culprits = Culprits(failing({"e": ErrorCode.MALFORMED}, tried))
    culprits.search(problem(ErrorCode.MALFORMED, "e"), HOSTS)
    assert tried == ["e"]
    assert set(culprits.found) == {"e"}


def test_who_is_named_and_does_not_fail_stays() -> None:
    tried: list[str] = []
    culprits = Culprits(failing({"b": ErrorCode.MALFORMED}, tried))
    culprits.search(problem(ErrorCode.MALFORMED, "e"), HOSTS)
    assert tried == ["e", "a", "b", "c", "d", "f"]  # nobody twice
    assert set(culprits.found) == {"b"}


def test_a_name_that_is_no_hosts_counts_for_nothing() -> None:
    tried: list[str] = []
    culprits = Culprits(failing({"f": ErrorCode.MALFORMED}, tried))
    culprits.search(problem(ErrorCode.MALFORMED, "../other/f"), HOSTS)
    assert tried == list(HOSTS)
    assert set(culprits.found) == {"f"}


def test_many_that_are_named_one_after_the_other_are_found_together() -> None:
    """Three by their names, and then all that are left, so that 64 hosts need no 64 runs of all."""
    tried: list[str] = []
    bad = HOSTS[:5]
    culprits = Culprits(failing(dict.fromkeys(bad, ErrorCode.MALFORMED), tried))
    runs = 0
    while left := [host for host in bad if host not in culprits.found]:
        runs += 1
        culprits.search(problem(ErrorCode.MALFORMED, left[0]), [*left, "f"])
    assert runs == 4
    assert tried == list(HOSTS)


def test_nobody_alone_means_the_first_error() -> None:
    culprits = Culprits(failing({}, []))
    with pytest.raises(LoaderError) as caught:
        culprits.search(CRASH, HOSTS)
    assert caught.value is CRASH


def test_everybody_means_the_first_error() -> None:
    codes = dict.fromkeys(HOSTS, ErrorCode.ENGINE_CRASHED)
    with pytest.raises(LoaderError) as caught:
        Culprits(failing(codes, [])).search(CRASH, HOSTS)
    assert caught.value is CRASH


def test_a_single_host_is_not_tried_again() -> None:
    tried: list[str] = []
    with pytest.raises(LoaderError) as caught:
        Culprits(failing({}, tried)).search(CRASH, ["a"])
    assert caught.value is CRASH
    assert tried == []


@pytest.mark.parametrize(
    "code",
    [
        ErrorCode.OUT_OF_MEMORY,
        ErrorCode.TIMED_OUT,
        ErrorCode.TOO_LARGE,
        ErrorCode.ENGINE_REFUSED,
        ErrorCode.INTERNAL,
        ErrorCode.CANCELLED,
    ],
)
def test_other_failures_start_no_search(code: ErrorCode) -> None:
    tried: list[str] = []
    first = problem(code)
    with pytest.raises(LoaderError) as caught:
        Culprits(failing({}, tried)).search(first, HOSTS)
    assert caught.value is first
    assert tried == []


@pytest.mark.parametrize(
    "code", [ErrorCode.ENGINE_REFUSED, ErrorCode.NOT_FOUND, ErrorCode.INVALID_REQUEST]
)
def test_a_host_that_has_nothing_for_the_tool_is_not_at_fault(code: ErrorCode) -> None:
    culprits = Culprits(failing({"a": code, "b": ErrorCode.ENGINE_CRASHED}, []))
    culprits.search(CRASH, HOSTS)
    assert set(culprits.found) == {"b"}


@pytest.mark.parametrize("code", [ErrorCode.TIMED_OUT, ErrorCode.OUT_OF_MEMORY])
def test_a_trial_that_meets_a_limit_ends_the_search(code: ErrorCode) -> None:
    tried: list[str] = []
    culprits = Culprits(failing({"b": code, "c": ErrorCode.ENGINE_CRASHED}, tried))
    with pytest.raises(LoaderError) as caught:
        culprits.search(CRASH, HOSTS)
    assert caught.value is CRASH
    assert tried == ["a", "b"]


@pytest.mark.parametrize("code", [ErrorCode.CANCELLED, ErrorCode.BUSY, ErrorCode.INTERNAL])
def test_what_says_nothing_of_the_profiles_is_raised_as_it_is(code: ErrorCode) -> None:
    with pytest.raises(LoaderError) as caught:
        Culprits(failing({"b": code}, [])).search(CRASH, HOSTS)
    assert caught.value.code is code


@pytest.mark.parametrize("code", [ErrorCode.TIMED_OUT, ErrorCode.ENGINE_REFUSED])
def test_the_first_error_stays_when_the_others_fail_otherwise(code: ErrorCode) -> None:
    culprits = Culprits(failing({"b": ErrorCode.MALFORMED}, []))
    culprits.search(UNREADABLE, HOSTS)
    with pytest.raises(LoaderError) as caught:
        culprits.search(problem(code), ["a", "c"])
    assert caught.value is UNREADABLE


LACK = problem(ErrorCode.OUT_OF_MEMORY)
SIZES = dict(zip(HOSTS, (1, 6, 3, 4, 5, 2), strict=True))


def test_who_takes_too_much_memory_alone_is_found_among_the_heaviest_first() -> None:
    tried: list[str] = []
    codes = {"e": ErrorCode.OUT_OF_MEMORY, "d": ErrorCode.OUT_OF_MEMORY}
    culprits = Culprits(failing(codes, tried), SIZES.__getitem__)
    culprits.search(LACK, HOSTS)
    assert (tried, set(culprits.found)) == (["b", "e"], {"e"})
    # The others may fit now; if they don't, nobody is tried twice.
    culprits.search(LACK, [host for host in HOSTS if host != "e"])
    assert (tried, set(culprits.found)) == (["b", "e", "d"], {"e", "d"})


def test_where_all_together_have_too_much_nobody_is_at_fault() -> None:
    tried: list[str] = []
    with pytest.raises(LoaderError) as caught:
        Culprits(failing({}, tried), SIZES.__getitem__).search(LACK, HOSTS)
    assert caught.value is LACK
    assert tried == ["b", "e", "d", "c", "f", "a"]


def test_looking_for_who_has_too_much_takes_no_longer_than_the_run_that_failed() -> None:
    given: list[float] = []

    def try_alone(host: str, seconds: float) -> None:
        given.append(seconds)
        if len(given) == 3:
            raise problem(ErrorCode.TIMED_OUT, host)

    with pytest.raises(LoaderError) as caught:
        Culprits(try_alone, SIZES.__getitem__).search(LACK, HOSTS, 60.0)
    assert caught.value is LACK
    assert 60.0 >= given[0] >= given[1] >= given[2]
    assert len(given) == 3


def test_one_that_fails_for_want_of_time_proves_nothing() -> None:
    """All took so long that no time is left in which to see who of them did."""
    tried: list[str] = []
    late = problem(ErrorCode.TIMED_OUT)
    with pytest.raises(LoaderError) as caught:
        Culprits(failing({}, tried), SIZES.__getitem__).search(late, HOSTS)
    assert caught.value is late
    assert tried == []
