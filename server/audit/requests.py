"""From a request that has succeeded to an event of the audit log.

`server.callers.access` and `server.site.routes` call `write_change` for every change; what no such route does
(opening a link, signing in) is told by `record_opening` and `record`.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import json
import re
from datetime import UTC, datetime

from fastapi import Request

from auth.browser_sessions import BrowserSession
from auth.identity import Principal, Role
from auth.links import ShareLink
from auth.policy import Action
from server.audit.log import new_event
from server.audit.notes import AuditNote, is_unchanged, noted, noted_actor
from server.links.targets import target_name
from server.names import browser_session_name, link_name
from server.registry.audit import AuditEvent
from server.registry.records import Json
from server.services import Services

LINK_OPENED = "links.open"
SIGNED_IN = "people.sign_in"
SIGNED_OUT = "people.sign_out"
LET_IN = "people.let_in"
"""Actions that need no permission, and so are none of `auth.policy.Action`."""
_UNSAFE = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_VERBS = {"POST": "create", "PUT": "write", "PATCH": "update", "DELETE": "delete"}
_REQUEST_ID = ("requestId", "request_id")
_PARAMETER = re.compile(r"\{[^}]*\}")
_NETWORK_BITS = {4: 24, 6: 48}


def may_be_change(request: Request) -> bool:
    """Whether a request's method can change anything."""
    return request.method in _UNSAFE


def write_change(request: Request, services: Services, resource: str) -> None:
    """Writes down what a request has changed, unless there is nothing to tell. Blocks on the database.

    Args:
        request: one that has succeeded.
        services: where the log is.
        resource: what its path names; the route's note wins.
    """
    actor = noted_actor(request)
    if actor is None or is_unchanged(request):
        return
    note = noted(request) or AuditNote(resource)
    if _is_sign_of_life(request, actor.principal):
        return
    event = new_event(
        actor=actor.principal.id,
        actor_name=actor.principal.name,
        action=actor.action,
        verb=note.verb or _verb(request, actor.action),
        resource=note.resource,
        address=network_address(request),
        details=note.details,
    )
    services.audit.write(event, _repetition(request, event))


def record(
    request: Request,
    services: Services,
    principal: Principal,
    action: str,
    verb: str,
    resource: str,
    **details: Json,
) -> None:
    """Writes down what a route did that finds its person itself, such as signing in. Blocks on the database.

    Args:
        request: one that has succeeded.
        services: where the log is.
        principal: who did it.
        action: value of an action, or one of this module's.
        verb: what was done.
        resource: resource name of what it was done to.
        details: what else is worth knowing.
    """
    event = new_event(
        actor=principal.id,
        actor_name=principal.name,
        action=action,
        verb=verb,
        resource=resource,
        address=network_address(request),
        details=details,
    )
    services.audit.write(event)


def record_sign_in(
    request: Request, services: Services, principal: Principal, session: BrowserSession
) -> None:
    """Writes down that somebody has signed in with a browser. Blocks on the database."""
    name = browser_session_name(session.id)
    record(request, services, principal, SIGNED_IN, "sign_in", name, method=session.method.value)


def record_opening(
    request: Request, services: Services, link: ShareLink, viewer: Principal | None
) -> None:
    """Writes down that somebody opened a link: the first time of a day (UTC) only. Blocks on the database.

    Args:
        request: one that has been let in.
        services: where the log is.
        link: what was opened.
        viewer: who has signed in, or None for somebody whom nobody knows. Of these a keyed hash is kept that
            changes every day, and the network that they came from instead of their address.
    """
    day = datetime.now(UTC).date().isoformat()
    unknown = _unknown_viewer(request, services.settings.secret_key, day)
    event = new_event(
        actor=viewer.id if viewer else unknown,
        actor_name=viewer.name if viewer else "",
        action=LINK_OPENED,
        verb="open",
        resource=link_name(link.id),
        address=network_address(request) if viewer else _network_of(network_address(request)),
        details={"target": target_name(link.target)},
    )
    services.audit.write(event, _hash([LINK_OPENED, link.id, event.actor, day]))


def network_address(request: Request) -> str:
    """Network address that a request came from, behind the proxies that the server trusts."""
    return request.client.host if request.client else ""


def _verb(request: Request, action: str) -> str:
    """What a request does: the method of a resource (AIP-136), a page's last word, or the HTTP method."""
    if action == Action.LINKS_REVOKE.value:
        return "revoke"
    template = str(getattr(request.scope.get("route"), "path", ""))
    # What follows a parameter's name inside the braces is its kind.
    last = _PARAMETER.sub("", template.rpartition("/")[2])
    if ":" in last:
        return last.rpartition(":")[2]
    if not template.startswith("/v1"):
        return last if last and "{" in template else "update"
    return _VERBS[request.method]


def _is_sign_of_life(request: Request, principal: Principal) -> bool:
    """Whether a job tells how it is doing: that comes every few seconds, and the run says it itself."""
    is_job = principal.role is Role.INGEST
    return is_job and request.method == "PATCH" and noted(request) is None


def _repetition(request: Request, event: AuditEvent) -> str | None:
    """A mark by which a creation that is sent again under the same name is written down once."""
    names = [request.query_params[name] for name in _REQUEST_ID if name in request.query_params]
    if not names:
        return None
    day = event.moment.date().isoformat()
    details = json.dumps(event.details, sort_keys=True)
    return _hash([event.actor, names[0], day, event.verb, event.resource, details])


def _unknown_viewer(request: Request, secret_key: str, day: str) -> str:
    """A name for an unknown viewer that is good for a day, and from which nobody finds an address."""
    seen = json.dumps([day, network_address(request), request.headers.get("user-agent", "")])
    key = f"viewers of links\n{secret_key}".encode()
    return f"viewer:{hmac.new(key, seen.encode(), hashlib.sha256).hexdigest()[:16]}"


def _network_of(address: str) -> str:
    """The network that an address belongs to; empty when it is none."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return ""
    return str(ipaddress.ip_network((parsed, _NETWORK_BITS[parsed.version]), strict=False))


def _hash(parts: list[str]) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
