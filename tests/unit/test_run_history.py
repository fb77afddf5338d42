"""What happened to a run, put together from what the registry knows."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from server.registry.audit import AuditEvent
from server.registry.records import ProfilerSession, Run, RunState
from server.registry.run_facts import RunAttempt
from server.run_pages.history import MOST, history_of

START = datetime(2026, 11, 30, 12, tzinfo=UTC)


def at(minutes: int) -> datetime:
    return START + timedelta(minutes=minutes)


def run(**values: object) -> Run:
    fields: dict[str, object] = {
        "id": "r",
        "uid": "u",
        "display_name": "r",
        "labels": {},
        "run_set": "",
        "configs": {},
        "artifacts": {},
        "creator": "ann",
        "created": at(0),
        "updated": at(0),
        "version": 1,
        **values,
    }
    return Run(**fields)  # type: ignore[arg-type]


def session(name: str, minutes: int, creator: str = "job") -> ProfilerSession:
    return ProfilerSession(
        id=name,
        uid=name,
        run="r",
        display_name="",
        locations=("gs://b/x",),
        expected_hosts=None,
        merged_from=(),
        prewarm="",
        creator=creator,
        created=at(minutes),
        updated=at(minutes),
        version=1,
    )


def event(verb: str, resource: str, minutes: int) -> AuditEvent:
    return AuditEvent("e", at(minutes), "user:bob", "Bob", "runs.write", verb, resource, "")


def test_everything_stands_in_the_order_in_which_it_happened() -> None:
    attempts = [
        RunAttempt(1, RunState.FAILED, at(1), at(5)),
        RunAttempt(2, RunState.ACTIVE, at(6), None),
    ]
    events = [
        event("create", "machineLearningRuns/r", 0),
        event("delete", "machineLearningRuns/r/profilerSessions/old", 9),
        event("update", "machineLearningRuns/r", 8),
        event("revoke", "shareLinks/abc", 10),
    ]
    told = history_of(run(), attempts, [session("s", 7)], events)
    assert [(one.text, one.subject, one.who) for one in told] == [
        ("Link revoked", "abc", "Bob"),
        ("Session deleted", "old", "Bob"),
        ("Run changed", "", "Bob"),
        ("Session added", "s", "job"),
        ("Attempt 2 began", "", ""),
        ("Attempt 1 failed", "", ""),
        ("Attempt 1 began", "", ""),
        ("The run was made", "", "ann"),
    ]
    assert [one.kind for one in told[:2]] == ["", "bad"]


def test_sessions_added_one_after_the_other_are_one_entry() -> None:
    sessions = [session(f"s{number}", number) for number in range(1, 10)]
    told = history_of(run(), (), [*sessions, session("by hand", 20, "ann")], ())
    assert [(one.text, one.subject) for one in told] == [
        ("Session added", "by hand"),
        ("9 sessions added, the last one", "s9"),
        ("The run was made", ""),
    ]


def test_the_end_of_a_run_without_attempts_is_told() -> None:
    told = history_of(run(state=RunState.LOST, ended=at(3)), (), (), ())
    assert told[0].text.startswith("The run was given up")
    assert told[0].kind == "bad"


def test_only_the_newest_are_told() -> None:
    events = [event("update", "machineLearningRuns/r", number) for number in range(1, 200)]
    told = history_of(run(), (), (), events)
    assert len(told) == MOST
    assert told[0].moment == at(199)
