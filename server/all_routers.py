"""All routes of the front end, in the order in which they are tried.

`server.app` adds these to the application and nothing else; what has no router there (health, metrics) stands
in `server.app`.
"""

from __future__ import annotations

from collections.abc import Iterator

from fastapi import APIRouter

from server.routes import (
    assets,
    audit_events,
    audit_page,
    callers,
    comments,
    compare_page,
    comparisons,
    device_codes,
    device_page,
    discovery,
    front_door,
    group_pages,
    ingest,
    link_entry,
    links,
    links_pages,
    managed_children,
    managed_operations,
    managed_runs,
    managed_sessions,
    member_pages,
    members,
    notifications,
    operations,
    provider_sign_in,
    run_groups,
    run_page_changes,
    run_pages,
    runs,
    session_changes,
    session_comments,
    session_files,
    session_health,
    session_merges,
    session_pages,
    session_prewarm,
    sessions,
    share_pages,
    sharing_rules,
    sharing_rules_page,
    sign_in,
    sign_out,
    tokens,
    uploads,
    xprof,
    xprof_progress,
)

_API = (
    ingest.router,
    ingest.reports,
    runs.router,
    sessions.router,
    session_health.router,
    session_merges.router,
    session_prewarm.router,
    comparisons.router,
    comments.router,
    session_files.router,
    links.router,
    sharing_rules.router,
    run_groups.router,
    tokens.router,
    members.router,
    audit_events.router,
    operations.router,
    uploads.router,
    discovery.router,
    notifications.router,
    callers.router,
    device_codes.router,
    managed_runs.router,
    managed_sessions.router,
    managed_children.router,
    managed_operations.router,
)
_PAGES = (
    sign_in.router,
    sign_out.router,
    provider_sign_in.router,
    member_pages.router,
    device_page.router,
    compare_page.router,
    session_files.page_routes,
    session_pages.router,
    session_changes.router,
    session_comments.router,
    run_pages.router,
    run_page_changes.router,
    share_pages.router,
    sharing_rules_page.router,
    links_pages.router,
    audit_page.router,
    group_pages.router,
)


def all_routers() -> Iterator[APIRouter]:
    """What links' pages ask for, then the API, the pages, and what is left.

    One after the other is tried at each request. Nearly all requests are those of links' pages, and no other
    route takes an address below XProf's path.
    """
    yield assets.router
    for router in (xprof_progress.routes, xprof.routes):
        yield xprof.at_all_places(router)
    yield link_entry.router
    yield from _API
    yield from _PAGES
    yield front_door.router
