"""What the page of the audit log shows: which events are asked for, and each of them in words.

Knows no request and no database.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import quote, urlencode

from auth.policy import Action
from server.audit.requests import LET_IN, LINK_OPENED, SIGNED_IN, SIGNED_OUT
from server.registry.audit import AuditEvent
from server.registry.conditions import AllOf, AnyOf, Compare, Condition, Matches, Operator, Subject
from server.site.days import HOW_TO_WRITE, read_day
from server.site.paths import run_page, session_page

_MOST = 200
_READING = (".read", ".list")
_RUN = "machineLearningRuns/"
_LINK = "shareLinks/"
_SESSION = "/profilerSessions/"
ACTIONS = tuple(
    sorted(
        [
            *(action.value for action in Action if not action.value.endswith(_READING)),
            *(LINK_OPENED, SIGNED_IN, SIGNED_OUT, LET_IN),
        ]
    )
)
"""What events can be about: whoever only reads is not written down."""


@dataclass(frozen=True)
class AuditQuery:
    """What somebody looks for; empty for everything.

    Attributes:
        actor: part of an actor's id or name.
        action: one of `ACTIONS`.
        resource: part of a resource name.
        first: first day (UTC), as `2026-01-31`.
        last: last day (UTC).
    """

    actor: str = ""
    action: str = ""
    resource: str = ""
    first: str = ""
    last: str = ""

    @property
    def problem(self) -> str:
        """Why nothing can be found; empty when something can."""
        if any(text and read_day(text) is None for text in (self.first, self.last)):
            return HOW_TO_WRITE
        return ""

    @property
    def condition(self) -> Condition | None:
        """The same for the registry."""
        parts: list[Condition] = []
        if self.actor:
            who = ("", self.actor, "")
            by_name = Matches(Subject("actor_name"), who)
            parts.append(AnyOf((Matches(Subject("actor"), who), by_name)))
        if self.action:
            parts.append(Compare(Subject("action"), Operator.EQUAL, self.action))
        if self.resource:
            parts.append(Matches(Subject("resource"), ("", self.resource, "")))
        first, last = read_day(self.first), read_day(self.last)
        moment = Subject("moment")
        if first is not None:
            parts.append(Compare(moment, Operator.GREATER_OR_EQUAL, first))
        if last is not None:
            parts.append(Compare(moment, Operator.LESS, last + timedelta(days=1)))
        return AllOf(tuple(parts)) if parts else None

    @property
    def text(self) -> str:
        """As the query of an address, without question mark."""
        pairs = {
            "actor": self.actor,
            "action": self.action,
            "resource": self.resource,
            "from": self.first,
            "until": self.last,
        }
        return urlencode({name: value for name, value in pairs.items() if value})


@dataclass(frozen=True)
class AuditLine:
    """An event as a row of the page.

    Attributes:
        event: what was done.
        who: for people.
        address: path of the page about what it was done to, below the hub's; empty where there is none.
        details: what else is known, as names and texts.
    """

    event: AuditEvent
    who: str
    address: str
    details: tuple[tuple[str, str], ...]


def read_query(parameters: Mapping[str, str]) -> AuditQuery:
    """What the address of the page asks for."""

    def text(name: str) -> str:
        return parameters.get(name, "").strip()[:_MOST]

    action = text("action")
    return AuditQuery(
        actor=text("actor"),
        action=action if action in ACTIONS else "",
        resource=text("resource"),
        first=text("from"),
        last=text("until"),
    )


def line_of(event: AuditEvent) -> AuditLine:
    """An event in the page's words."""
    is_unknown = event.actor.startswith("viewer:")
    details = tuple((name, _in_words(value)) for name, value in event.details.items())
    return AuditLine(
        event=event,
        who="somebody with the link" if is_unknown else event.actor_name or event.actor,
        address=_page_of(event.resource),
        details=details,
    )


def _page_of(resource: str) -> str:
    """Path of the page about a run, session or link; of one that is gone, it says so itself."""
    if resource.startswith(_LINK):
        return f"/links/{quote(resource.removeprefix(_LINK), safe='')}"
    run, _, session = resource.removeprefix(_RUN).partition(_SESSION)
    if not resource.startswith(_RUN) or not run or "/" in run or "/" in session:
        return ""
    return session_page("", run, session) if session else run_page("", run)


def _in_words(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(_in_words(part) for part in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)
