"""`/ingest/<token>/…`: the API for jobs whose client takes nothing but an address, and sends no header.

The path behind the token is the ordinary one. The token is taken out before anything logs, counts or routes
the request, and whoever calls so may do what a job may, whatever the token's role.
"""

from __future__ import annotations

import re
from urllib.parse import quote

from fastapi import Request
from starlette.types import ASGIApp, Receive, Scope, Send

PREFIX = "/ingest"
_TOKEN = "xprof_hub.path_token"  # noqa: S105 - the name of a place, not a token
_FOR_JOBS = re.compile(rf"{PREFIX}/([^/]+)(/v1/machineLearningRuns|/v1alpha/projects)(?=/|$)")
_NOWHERE = f"{PREFIX}/…"


class JobPath:
    """Takes the token out of a path, for `token_of_path` to find; stands inside `CollapseSlashes`."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hands on the path behind the token; a path that isn't for jobs leads nowhere."""
        path = scope["path"] if scope["type"] == "http" else ""
        if path == PREFIX or path.startswith(f"{PREFIX}/"):
            found = _FOR_JOBS.match(path)
            scope = _moved(scope, path[found.end(1) :] if found else _NOWHERE)
            if found:
                scope[_TOKEN] = found[1]
        await self._app(scope, receive, send)


def token_of_path(request: Request) -> str | None:
    """What stands in the place of the token, or None for a request whose path has none."""
    token = request.scope.get(_TOKEN)
    return token if isinstance(token, str) else None


def _moved(scope: Scope, path: str) -> Scope:
    return {**scope, "path": path, "raw_path": quote(path).encode()}
