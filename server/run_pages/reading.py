"""Reads what the page of a run shows. Asks the registry only: nothing here waits for storage or a worker."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from urllib.parse import urlencode

from auth.identity import Principal
from auth.policy import Action, may
from server.callers.signed_in import NothingThereError
from server.figures.freshness import Wish
from server.http.aip import next_page_token, page_request
from server.lifecycle.due import when_due
from server.names import is_id, run_name
from server.registry.audit import AuditEvent, list_audit_events
from server.registry.conditions import AnyOf, Compare, Matches, Operator, Subject
from server.registry.errors import RegistryError, RegistryProblem
from server.registry.keeping import keeping_of, storage_of_runs
from server.registry.pages import PageRequest
from server.registry.records import ProfilerSession, Run
from server.registry.run_facts import facts_of
from server.registry.runs import get_run
from server.registry.sessions import list_sessions
from server.registry.summaries import SessionSummary, summaries_of
from server.run_pages.history import MOST, history_of
from server.run_pages.run_view import RunRights, RunView, SessionsPart, run_view
from server.services import Services
from server.site.paths import run_page

SESSIONS = 25
"""Sessions on a page."""


def find_run(services: Services, run_id: str) -> Run:
    """The run of this id.

    Raises:
        NothingThereError: there is none.
    """
    if not is_id(run_id):
        raise NothingThereError
    try:
        return get_run(services.database, run_id)
    except RegistryError as error:
        if error.problem is not RegistryProblem.NOT_FOUND:
            raise
        raise NothingThereError from error


def read_run_view(
    services: Services, principal: Principal, run_id: str, page_token: str = ""
) -> RunView:
    """The page of a run, as this principal may see it.

    Raises:
        NothingThereError: there is no such run.
        ApiError: the page token is none of this run's sessions.
    """
    run = find_run(services, run_id)
    name, database = run_name(run.id), services.database
    facts = facts_of(database, [run])[0]
    part = _sessions(services, run, facts.sessions, page_token)
    has_audit = may(principal, Action.AUDIT_READ, "auditEvents")
    events = _events(services, name) if has_audit else ()
    rights = RunRights(
        write=may(principal, Action.RUNS_WRITE, name),
        hold=may(principal, Action.HOLDS_MANAGE, name),
        links=may(principal, Action.LINKS_CREATE, name),
    )
    return run_view(
        run,
        part,
        facts.attempts,
        history_of(run, facts.attempts, part.sessions, events),
        rights,
        prefix=services.settings.path_prefix,
        stored=storage_of_runs(database, [run.uid]).get(run.uid),
        has_audit=has_audit,
        now=datetime.now(UTC),
    )


def _sessions(services: Services, run: Run, count: int, page_token: str) -> SessionsPart:
    context = ("sessions on the page of a run", run.uid)
    wanted = page_request(
        size=SESSIONS, token=page_token, order_by="", sortable={}, context=context
    )
    try:
        page = list_sessions(services.database, run.id, wanted)
    except RegistryError as error:
        # Deleted in this moment.
        raise NothingThereError from error
    uids = [session.uid for session in page.records]
    keeping = keeping_of(services.database, uids)
    summaries = summaries_of(services.database, uids)
    _ask_for_missing(services, page.records, summaries)
    token = next_page_token(page.next, wanted, context)
    href = run_page(services.settings.path_prefix, run.id)
    return SessionsPart(
        sessions=page.records,
        summaries=summaries,
        dues={uid: when_due(found) for uid, found in keeping.items()},
        count=count,
        next=f"{href}?{urlencode({'pageToken': token})}" if token else "",
        first=href if page_token else "",
    )


def _ask_for_missing(
    services: Services,
    found: tuple[ProfilerSession, ...],
    summaries: Mapping[str, SessionSummary],
) -> None:
    """Has made in the background what the next look at the page should show."""
    for session in found:
        if session.uid not in summaries:
            services.figures.ask(session, Wish.MADE)


def _events(services: Services, name: str) -> tuple[AuditEvent, ...]:
    """The newest events about a run and all that it has."""
    resource = Subject("resource")
    about = AnyOf((Compare(resource, Operator.EQUAL, name), Matches(resource, (f"{name}/", ""))))
    return list_audit_events(services.database, PageRequest(MOST), about).records
