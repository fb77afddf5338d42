"""What a link opens and for whom, in a few plain values: for whoever may not import the routes of links."""

from __future__ import annotations

from auth.links import LinkTarget, RunTarget, ShareLink
from server.names import run_name, session_name
from server.registry.records import Json


def target_name(target: LinkTarget) -> str:
    """Resource name of the session or run that a link opens."""
    if isinstance(target, RunTarget):
        return run_name(target.run)
    return session_name(target.run, target.session)


def terms_of(link: ShareLink) -> dict[str, Json]:
    """What the audit log keeps of a link when it is made or changed: neither its note nor its password."""
    return {
        "target": target_name(link.target),
        "access": link.access.value,
        "expireTime": link.expires.isoformat() if link.expires else None,
        "hasPassword": link.has_password,
        "mostOpens": link.most_opens,
        "redacted": link.is_redacted,
    }
