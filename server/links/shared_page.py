"""What the page of a session says about its link: gathered from the registry for `server.ui.page_data`."""

from __future__ import annotations

from auth.identity import LOCAL_ADMIN
from auth.links import ShareLink
from server.links.grants import SessionGrant, WholeRun, run_title
from server.registry.comments import count_comments
from server.registry.records import ProfilerSession
from server.registry.sessions import newest_sessions
from server.services import Services
from server.session_pages.addresses import addresses_of, hub_address
from server.ui.page_data import PageData, SessionEntry, SessionPages
from server.ui.shell import base_path
from server.xprof.views import stored_view

MOST_SESSIONS = 50
"""Newest sessions of a run that the page offers; it may show an older one that is not among them."""


def page_data(services: Services, grant: SessionGrant, hosts: int) -> PageData:
    """What the page may know; asks the database.

    Args:
        services: where to look.
        grant: what the page shows.
        hosts: how many hosts have a file.
    """
    sessions, has_more = _switchable(services, grant)
    link = grant.link
    return PageData(
        run=run_title(services, grant),
        session=grant.session_name,
        hosts=hosts,
        shared_by=_sharer(link) if link else "",
        expires=grant.expires,
        note=link.note if link else "",
        sessions=sessions,
        has_more_sessions=has_more,
        view=stored_view(link.view).model_dump(mode="json") if link else {},
        is_redacted=grant.is_redacted,
        pages=None if link else _pages(services, grant),
    )


def _pages(services: Services, grant: SessionGrant) -> SessionPages:
    """The pages about the session, which are on the hub's own host."""
    at = addresses_of(services, grant.run_id, grant.session_id)
    hub = hub_address(services)
    return SessionPages(
        about=f"{hub}{at.page}",
        share=f"{hub}{at.share}",
        comments=f"{hub}{at.page}#comments",
        new_comment=f"{hub}{at.new_comment}",
        comment_count=count_comments(services.database, grant.run_id, grant.session_id),
    )


def _sharer(link: ShareLink) -> str:
    """Who made the link; nobody where all callers have one name."""
    return "" if link.creator == LOCAL_ADMIN.name else link.creator


def _switchable(services: Services, grant: SessionGrant) -> tuple[tuple[SessionEntry, ...], bool]:
    """The sessions that the reader may open too, newest first, and whether there are more."""
    if grant.run is None:
        return (), False
    found = newest_sessions(services.database, grant.run.uid, MOST_SESSIONS + 1)
    shown = tuple(_entry(session, grant.run, grant) for session in found[:MOST_SESSIONS])
    return shown, len(found) > MOST_SESSIONS


def _entry(session: ProfilerSession, run: WholeRun, grant: SessionGrant) -> SessionEntry:
    return SessionEntry(
        id=session.id,
        name=session.display_name or session.id,
        href=base_path(run.session_prefix(session.id)),
        created=session.created,
        is_current=session.id == grant.session_id,
    )
