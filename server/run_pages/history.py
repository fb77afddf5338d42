"""The log of what happened to a run: from the run, its attempts, its sessions, and what people did."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from types import MappingProxyType

from server.registry.audit import AuditEvent
from server.registry.records import ProfilerSession, Run, RunState
from server.registry.run_facts import RunAttempt

MOST = 50
"""Events that the page shows: the newest."""
_ADDED = "Session added"
_STATE_ENDS: Mapping[RunState, str] = MappingProxyType(
    {
        RunState.COMPLETED: "completed",
        RunState.FAILED: "failed",
        RunState.LOST: "was given up: nobody has heard of the job since",
    }
)
_KINDS: Mapping[RunState, str] = MappingProxyType(
    {RunState.COMPLETED: "good", RunState.FAILED: "bad", RunState.LOST: "bad"}
)


_VERBS: Mapping[str, str] = MappingProxyType(
    {
        "update": "changed",
        "delete": "deleted",
        "undelete": "brought back",
        "merge": "merged",
        "revoke": "revoked",
        "open": "opened",
    }
)
"""What the audit log calls it, and what people do."""


@dataclass(frozen=True)
class Happening:
    """Something that happened.

    Attributes:
        moment: when.
        text: what, as a sentence without its subject's name.
        who: who did it, or empty.
        kind: class of its dot: accent, good, bad or empty.
        subject: name of what it happened to, or empty.
    """

    moment: datetime
    text: str
    who: str = ""
    kind: str = ""
    subject: str = ""


def history_of(
    run: Run,
    attempts: Sequence[RunAttempt],
    sessions: Sequence[ProfilerSession],
    events: Sequence[AuditEvent],
) -> tuple[Happening, ...]:
    """What happened, newest first.

    Args:
        run: the run.
        attempts: its newest ones.
        sessions: its newest ones.
        events: of the audit log, about the run and what it has; creations are known without them.
    """
    found = [Happening(run.created, "The run was made", run.creator, "accent")]
    found += [happening for attempt in attempts for happening in _of_attempt(attempt)]
    found += [
        Happening(one.created, _ADDED, one.creator, "accent", one.display_name or one.id)
        for one in sessions
    ]
    if run.ended is not None and not attempts:
        found.append(_end(run.ended, "The run", run.state))
    found += [_of_event(event) for event in events if event.verb != "create"]
    found.sort(key=lambda one: one.moment, reverse=True)
    return tuple(_gathered(found))[:MOST]


def _gathered(found: Sequence[Happening]) -> Iterator[Happening]:
    """The same with one entry for sessions that were added one after the other."""
    for (text, _), group in groupby(found, key=lambda one: (one.text, one.who)):
        first, *others = group
        if text == _ADDED and others:
            yield replace(first, text=f"{len(others) + 1} sessions added, the last one")
        else:
            yield from (first, *others)


def _of_attempt(attempt: RunAttempt) -> list[Happening]:
    name = f"Attempt {attempt.number}"
    found = [Happening(attempt.started, f"{name} began")]
    if attempt.ended is not None:
        found.append(_end(attempt.ended, name, attempt.state))
    return found


def _end(moment: datetime, name: str, state: RunState) -> Happening:
    return Happening(moment, f"{name} {_STATE_ENDS.get(state, 'ended')}", "", _KINDS.get(state, ""))


def _of_event(event: AuditEvent) -> Happening:
    collection, _, name = event.resource.rpartition("/")
    words = {"machineLearningRuns": "Run", "profilerSessions": "Session", "shareLinks": "Link"}
    thing = words.get(collection.rpartition("/")[2], "Part of it")
    is_run = thing == "Run"
    kind = "bad" if event.verb == "delete" else ""
    return Happening(
        event.moment,
        f"{thing} {_VERBS.get(event.verb, event.verb)}",
        event.actor_name,
        kind,
        "" if is_run else name,
    )
