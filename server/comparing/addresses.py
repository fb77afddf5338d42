"""Addresses of a comparison and of what it names. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote, urlencode

from server.comparing.sides import SessionRef
from server.site.paths import run_page, session_page
from server.ui.shell import PROFILE_PATH

PATH = "/compare"


@dataclass(frozen=True)
class Addresses:
    """Makes addresses of pages; `prefix` is the hub's path prefix."""

    prefix: str

    def compare(self, left: SessionRef | None, right: SessionRef | None, **more: str | int) -> str:
        """The Compare page with these sides."""
        sides = {"left": left, "right": right}
        query = {name: str(ref) for name, ref in sides.items() if ref is not None}
        asked = urlencode({**query, **more}, quote_via=quote, safe="/")
        return f"{self.prefix}{PATH}?{asked}" if asked else f"{self.prefix}{PATH}"

    def run(self, ref: SessionRef) -> str:
        """A run's page."""
        return run_page(self.prefix, ref.run)

    def session(self, ref: SessionRef) -> str:
        """A session's page."""
        return session_page(self.prefix, ref.run, ref.session)

    def xprof(self, ref: SessionRef) -> str:
        """A session's XProf."""
        return f"{self.session(ref)}{PROFILE_PATH}"
