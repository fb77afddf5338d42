"""Where the pages about a session are, below the hub's own host."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote, urlencode

from server.callers.session_passes import run_prefix, session_prefix
from server.services import Services
from server.ui.shell import PROFILE_PATH
from server.xprof.views import View, query_of


@dataclass(frozen=True)
class SessionAddresses:
    """Paths of everything about one session, percent-encoded.

    Attributes:
        runs: the list of runs.
        run: the page of its run.
        page: the page about the session, which the others lie below.
        comparison: the page that compares it, with it chosen as the first.
    """

    runs: str
    run: str
    page: str
    comparison: str

    @property
    def xprof(self) -> str:
        """XProf, as it opens by itself."""
        return f"{self.page}{PROFILE_PATH}"

    @property
    def share(self) -> str:
        """Where links to it are made."""
        return f"{self.page}/share"

    @property
    def comments(self) -> str:
        """All that was said of it."""
        return f"{self.page}/comments"

    @property
    def new_comment(self) -> str:
        """Where something is said about the view that the query names, as XProf's address does."""
        return f"{self.page}/comment"

    def comment(self, comment: str) -> str:
        """Where one comment is changed."""
        return f"{self.comments}/{quote(comment, safe='')}"

    def file(self, host: str) -> str:
        """A host's original file."""
        return f"{self.page}/files/{quote(host, safe='')}"

    def view(self, view: View) -> str:
        """XProf, as the view says."""
        query = query_of(view)
        return f"{self.xprof}?{query}" if query else self.xprof


def addresses_of(services: Services, run: str, session: str) -> SessionAddresses:
    """The paths of a session's pages."""
    prefix = services.settings.path_prefix
    return SessionAddresses(
        runs=f"{prefix}/runs",
        run=run_prefix(services, run),
        page=session_prefix(services, run, session),
        comparison=f"{prefix}/compare?{urlencode({'left': f'{run}/{session}'})}",
    )


def hub_address(services: Services) -> str:
    """What stands before these paths where the page that names them is on the content host."""
    settings = services.settings
    return settings.base_url.rstrip("/") if settings.content_url else ""
