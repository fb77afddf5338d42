"""Every route of the service, with the rule that its code names: who is let in by which credential, for what.

A route without such a rule has to stand in `OPEN`, with the reason; one that stands nowhere fails the tests.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from fastapi import FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from starlette.routing import BaseRoute

from auth.identity import Principal
from auth.policy import Action, may, rule_of
from server.callers.access import ApiRoute
from server.links.grants import page_grant, session_grant
from server.routes.ingest import ReportRoute
from server.site.routes import PageRoute


class Credential(Enum):
    """By what somebody is let in."""

    API_TOKEN = "a token in the header"
    COOKIE = "the cookie of somebody who has signed in"
    LINK = "a link's token in the path"
    NONE = "nothing"


@dataclass(frozen=True)
class Ruled:
    """A route with its rule.

    Attributes:
        method: one that it takes.
        path: with values in place of parameters, and the query by which the route is told from others.
        template: the path as the code has it.
        credential: by what somebody is let in.
        actions: what is asked for, any one of them; none where nothing is.
    """

    method: str
    path: str
    template: str
    credential: Credential
    actions: tuple[Action, ...] = ()

    def lets_in(self, principal: Principal) -> bool:
        """Whether the policy lets a principal do what the route is for."""
        return any(
            may(principal, action, name)
            for action in self.actions
            for name in rule_of(action).collections
        )

    @property
    def changes(self) -> bool:
        """Whether it may change something."""
        return self.method not in {"GET", "HEAD"}


OPEN: Mapping[tuple[str, str], str] = {
    ("GET", "/"): "says what this is, and lists nothing",
    ("GET", "/docs"): "the API's reference",
    ("GET", "/openapi.json"): "the same for programs",
    ("GET", "/robots.txt"): "for search engines",
    ("GET", "/healthz"): "for whatever runs the process",
    ("GET", "/readyz"): "likewise",
    ("GET", "/health"): "likewise",
    ("GET", "/ready"): "likewise",
    ("GET", "/metrics"): "numbers without names; not published below a path prefix",
    (
        "GET",
        "/_assets/{content_hash}/{name:path}",
    ): "XProf's files and ours, the same for everybody",
    ("GET", "/signin"): "the way in",
    ("POST", "/signin"): "takes an API token",
    ("GET", "/signin/oidc"): "leads to the provider",
    ("GET", "/signin/callback"): "takes what the provider says",
    ("POST", "/signout"): "ends one's own browser session",
    ("GET", "/signedout"): "says that one is signed out, and where one may be signed in still",
    ("POST", "/v1/deviceCodes"): "a program asks to be let in, and gets nothing yet",
    ("POST", "/v1/deviceCodes:exchange"): "takes the code that only that program has",
    ("POST", "/v1/notifications:push"): "takes what Google has signed",
    ("GET", "/runs/{run}/sessions/{session}/enter"): "takes a hand-over, on the content host only",
    ("GET", "/runs/{run}/sessions/{session}/enter/{rest:path}"): "likewise",
}
"""What nobody needs a role for, and why."""
BY_HAND: Mapping[tuple[str, str], Action] = {
    ("GET", "/device"): Action.CALLER_READ,
    ("POST", "/device"): Action.CALLER_READ,
    ("GET", "/runs/{run}/sessions/{session}/data/plugin/profile"): Action.SESSIONS_READ,
}
"""Pages that ask for their action in their own code, not by a dependency."""
_LINKS = re.compile(r"/(?:s|enter)/\{token\}(?:/.*)?")
_GRANTS = (session_grant, page_grant)
_REPORT = "?update_mask=workload.state&allow_missing=false"
"""What makes a change of a run a job's report, which has a route of its own."""


class RouteWithoutRuleError(Exception):
    """Nobody has said who may use this route."""


def ruled_routes(app: FastAPI) -> list[Ruled]:
    """All routes of an app, each with its rule.

    Raises:
        RouteWithoutRuleError: one has none.
    """
    return [
        _ruled(method, path, route)
        for path, route in _walk(app.routes, "")
        for method in sorted(getattr(route, "methods", None) or ())
        if method != "HEAD"
    ]


def _ruled(method: str, template: str, route: BaseRoute) -> Ruled:
    path = re.sub(r"\{[^}]+\}", "none", template)
    if _LINKS.fullmatch(template):
        return Ruled(method, path, template, Credential.LINK)
    if (method, template) in OPEN:
        return Ruled(method, path, template, Credential.NONE)
    if (method, template) in BY_HAND:
        actions = (BY_HAND[method, template],)
        return Ruled(method, path, template, Credential.COOKIE, actions)
    if isinstance(route, APIRoute):
        calls = list(_calls(route.dependant))
        if any(call in _GRANTS for call in calls):
            return Ruled(method, path, template, Credential.COOKIE, (Action.SESSIONS_READ,))
        asked = [actions for actions in map(_actions_of, calls) if actions]
        is_page = isinstance(route, PageRoute)
        if len(asked) == 1 and (is_page or isinstance(route, ApiRoute)):
            credential = Credential.COOKIE if is_page else Credential.API_TOKEN
            query = _REPORT if isinstance(route, ReportRoute) else ""
            return Ruled(method, path + query, template, credential, asked[0])
    raise RouteWithoutRuleError(f"{method} {template}")


def _walk(routes: list[BaseRoute], prefix: str) -> Iterator[tuple[str, BaseRoute]]:
    for route in routes:
        included = getattr(route, "original_router", None)
        if included is None:
            yield f"{prefix}{getattr(route, 'path', '')}", route
        else:
            context = getattr(route, "include_context", None)
            yield from _walk(included.routes, f"{prefix}{getattr(context, 'prefix', '')}")


def _calls(dependant: Dependant) -> Iterator[Callable[..., object]]:
    for inner in dependant.dependencies:
        if inner.call is not None:
            yield inner.call
        yield from _calls(inner)


def _actions_of(call: Callable[..., object]) -> tuple[Action, ...]:
    """What `require`, `person_who` and `allow` were given, read out of the functions that they made."""
    if not inspect.isfunction(call):
        return ()
    kept = inspect.getclosurevars(call).nonlocals
    actions = kept.get("actions", (kept.get("action"),))
    return tuple(action for action in actions if isinstance(action, Action))
