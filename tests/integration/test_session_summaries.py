"""What is kept of sessions' files and figures, on both databases."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import update

from server.figures.values import (
    HostFigures,
    OpTime,
    SessionFigures,
    StepPart,
    Steps,
    Utilisation,
)
from server.registry import runs, sessions
from server.registry.database import Database
from server.registry.deleting import delete_session
from server.registry.people_models import SummaryRow
from server.registry.recent_sessions import recent_sessions
from server.registry.records import ProfilerSession
from server.registry.summaries import (
    FigureState,
    HostSize,
    SessionSummary,
    get_summary,
    keep_summary,
    summaries_of,
)

NOW = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
STRANGE = "<b>\u00fc\U0001f600'\"\\ {{7*7}}"
FIGURES = SessionFigures(
    step_times_ms=(1.25, 3.5),
    average_step_ms=2.375,
    steps=Steps(2, 2.375, 2.375, 3.5, 1.25, 3.5, 1.125),
    device_type="TPU v5p",
    device_count=16,
    host_count=4,
    utilisation=Utilisation(duty_cycle=85.4),
    peak_memory_bytes=1 << 40,
    hosts=(HostFigures(STRANGE, 2.0, 3.0, (StepPart("Device compute", 1.5),)),),
    top_ops=(OpTime(STRANGE, "fusion", 12.5, 0.25, 128),),
    op_count=7,
    gaps=("No memory profile.",),
)
SUMMARY = SessionSummary(
    digest="d1",
    hosts=(HostSize("a", 5), HostSize(STRANGE, 1 << 40)),
    total_bytes=(1 << 40) + 5,
    figures=FIGURES,
    looked=NOW,
    state=FigureState("xprof 1"),
)


@pytest.fixture
def made(database: Database) -> ProfilerSession:
    runs.create_run(database, "r", runs.RunChanges(), creator="me", now=NOW)
    new = sessions.NewSession("s", ("/profiles/s",), "s")
    return sessions.create_session(database, "r", new, creator="me", now=NOW)


def test_a_summary_comes_back_as_it_was_kept(database: Database, made: ProfilerSession) -> None:
    assert get_summary(database, made.uid) is None
    assert summaries_of(database, [made.uid]) == {}
    assert keep_summary(database, made.uid, SUMMARY)
    assert get_summary(database, made.uid) == SUMMARY
    assert SUMMARY.host_count == 2


def test_a_list_goes_without_the_long_parts(database: Database, made: ProfilerSession) -> None:
    keep_summary(database, made.uid, SUMMARY)
    light = replace(FIGURES, hosts=(), top_ops=())
    assert summaries_of(database, [made.uid, "nobody"]) == {
        made.uid: replace(SUMMARY, figures=light)
    }
    assert summaries_of(database, []) == {}


def test_a_newer_summary_takes_the_place_of_the_older(
    database: Database, made: ProfilerSession
) -> None:
    keep_summary(database, made.uid, SUMMARY)
    newer = SessionSummary(
        "d2", (), 0, None, NOW + timedelta(hours=1), FigureState("xprof 2", "It broke.", True)
    )
    assert keep_summary(database, made.uid, newer)
    assert get_summary(database, made.uid) == newer


def test_what_is_not_whole_never_replaces_what_is(
    database: Database, made: ProfilerSession
) -> None:
    keep_summary(database, made.uid, SUMMARY)
    partial = replace(SUMMARY, figures=None, state=FigureState(problem="No worker answers."))
    assert keep_summary(database, made.uid, partial)
    assert get_summary(database, made.uid) == SUMMARY
    of_new_files = replace(partial, digest="d2")
    keep_summary(database, made.uid, of_new_files)
    assert get_summary(database, made.uid) == of_new_files
    keep_summary(database, made.uid, partial)
    assert get_summary(database, made.uid) == partial


def test_nothing_is_kept_of_a_session_that_is_gone(database: Database) -> None:
    assert not keep_summary(database, "nobody", SUMMARY)


def test_figures_of_another_shape_count_as_missing(
    database: Database, made: ProfilerSession
) -> None:
    keep_summary(database, made.uid, SUMMARY)
    with database.writing() as session:
        session.execute(update(SummaryRow).values(figures={"figures": {"average_step_ms": "fast"}}))
    assert get_summary(database, made.uid) == replace(SUMMARY, figures=None, state=FigureState())


def test_sessions_are_found_by_words_of_their_names(database: Database) -> None:
    for number, (run, name) in enumerate((("Llama-8B", "A 100%"), ("gpt_2", "b"), ("gone", "c"))):
        runs.create_run(
            database, run, runs.RunChanges(display_name=f"Run {run}"), creator="me", now=NOW
        )
        new = sessions.NewSession(f"s{number}", (f"/p/{run}",), name)
        moment = NOW + timedelta(minutes=number)
        sessions.create_session(database, run, new, creator="me", now=moment)
    delete_session(database, "gone", "s2", etag=None, now=NOW)

    def found(words: str, most: int = 10) -> list[tuple[str, str]]:
        return [(one.id, run) for one, run in recent_sessions(database, words, most)]

    both = [("s1", "Run gpt_2"), ("s0", "Run Llama-8B")]
    assert found("") == found(" run ") == both
    assert found("", 1) == both[:1]
    assert found("LLAMA 100%") == found("s0") == both[1:]
    assert found("t_") == both[:1]
    assert found("m_") == found("gone") == found("llama gpt") == []
