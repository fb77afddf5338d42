"""When a session is deleted by itself, and what keeps it, against a table written by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import product

import pytest

from server.lifecycle.due import Due, Kept, is_due, when_due
from server.registry.keeping import Keeping

MADE = datetime(2026, 3, 1, tzinfo=UTC)
NEVER = None
HELD, RUN, GROUP, PINNED = Kept.HELD, Kept.RUN_HELD, Kept.GROUP_HELD, Kept.PINNED


def day(number: int) -> datetime:
    return MADE + timedelta(days=number)


def of(words: str, own: int | None, group: int | None) -> Keeping:
    """A session that is `pinned`, `held`, in a `run-held` run or a `group-held` group."""
    said = set(words.split())
    return Keeping(
        created=MADE,
        expires=None if own is None else day(own),
        is_pinned="pinned" in said,
        is_held="held" in said,
        run_is_held="run-held" in said,
        group="g",
        group_days=group,
        group_is_held="group-held" in said,
    )


# What is said of the session; its own end and its group's days; when it is due; what keeps it.
TABLE = [
    ("", None, None, NEVER, ()),
    ("", 10, None, 10, ()),
    ("", None, 30, 30, ()),
    ("", 10, 30, 10, ()),
    ("", 50, 30, 50, ()),
    ("pinned", 10, 30, NEVER, (PINNED,)),
    ("held", 10, 30, NEVER, (HELD,)),
    ("run-held", 10, 30, NEVER, (RUN,)),
    ("group-held", 10, 30, NEVER, (GROUP,)),
    ("pinned", None, None, NEVER, (PINNED,)),
    ("held pinned", 10, None, NEVER, (HELD, PINNED)),
    ("group-held run-held held pinned", 1, 1, NEVER, (HELD, RUN, GROUP, PINNED)),
    ("", None, 400_000, NEVER, ()),
]


@pytest.mark.parametrize(("words", "own", "group", "due", "kept"), TABLE)
def test_a_session_is_due_as_the_table_says(
    words: str, own: int | None, group: int | None, due: int | None, kept: tuple[Kept, ...]
) -> None:
    found = when_due(of(words, own, group))
    assert found.moment == (None if due is None else day(due))
    assert found.kept == kept
    assert found.is_of_group == (due is not None and own is None)


def test_it_is_due_from_that_moment_on() -> None:
    session = of("", 10, None)
    assert not is_due(session, day(10) - timedelta(microseconds=1))
    assert is_due(session, day(10))
    assert is_due(session, day(4000))


def test_whatever_else_is_said_what_keeps_a_session_keeps_it_for_ever() -> None:
    words = ["", "pinned", "held", "run-held", "group-held"]
    for said, own, group, now in product(
        [" ".join(pair) for pair in product(words, words)],
        [None, 0, 5],
        [None, 1, 9],
        [0, 1, 7, 99],
    ):
        session = of(said, own, group)
        ends = [one for one in (own if own is not None else group,) if one is not None]
        expected = not said.strip() and any(end <= now for end in ends)
        assert is_due(session, day(now)) == expected, (said, own, group, now)


def test_nothing_said_means_no_end() -> None:
    assert when_due(Keeping(created=MADE)) == Due(None)
