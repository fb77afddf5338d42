"""What pages about comments need of the registry."""

from __future__ import annotations

from auth.identity import Principal
from auth.policy import Action, may
from server.http.aip import next_page_token, page_request
from server.names import session_name
from server.registry.comments import count_comments, list_comments
from server.registry.pages import PageRequest
from server.registry.records import ProfilerSession
from server.services import Services
from server.session_pages.addresses import SessionAddresses, addresses_of
from server.session_pages.comments import (
    MOST_SHOWN,
    CommentForm,
    CommentsPart,
    comment_form,
    comment_views,
)
from server.xprof.views import View


def comments_of_session(
    services: Services, principal: Principal, record: ProfilerSession
) -> CommentsPart:
    """The newest comments, for the page about the session; asks the database."""
    return _part(services, principal, record, PageRequest(MOST_SHOWN), None)


def page_of_comments(
    services: Services,
    principal: Principal,
    record: ProfilerSession,
    page_token: str,
    form: CommentForm | None = None,
) -> CommentsPart:
    """A page of all comments; asks the database.

    Args:
        services: where to look.
        principal: who reads.
        record: the session.
        page_token: which page.
        form: what was typed and could not be taken in; None for an empty form.

    Raises:
        ApiError: 400, it is no token of this list.
    """
    context = ("pages of comments", record.uid)
    wanted = page_request(size=0, token=page_token, order_by="", sortable={}, context=context)
    return _part(services, principal, record, wanted, context, form)


def _part(
    services: Services,
    principal: Principal,
    record: ProfilerSession,
    wanted: PageRequest,
    context: tuple[str, ...] | None,
    form: CommentForm | None = None,
) -> CommentsPart:
    addresses = addresses_of(services, record.run, record.id)
    name = session_name(record.run, record.id)
    page = list_comments(services.database, record.run, record.id, wanted)
    may_say = may(principal, Action.COMMENTS_WRITE, name)
    older = next_page_token(page.next, wanted, context) if context is not None else ""
    return CommentsPart(
        count=count_comments(services.database, record.run, record.id),
        shown=comment_views(page.records, principal, name, addresses),
        form=(form or comment_form(addresses, View())) if may_say else None,
        all_href=addresses.comments,
        older_href=_older(addresses, older),
    )


def _older(addresses: SessionAddresses, token: str) -> str:
    return f"{addresses.comments}?pageToken={token}" if token else ""
