"""The client of one hub: its resources, each a room of its own, over one connection."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Self
from urllib.parse import quote

from server.client.audit import Audit
from server.client.comments import Comments
from server.client.comparisons import Comparisons
from server.client.device_codes import DeviceCodes
from server.client.discovery import Discovery
from server.client.downloads import Downloads
from server.client.groups import RunGroups
from server.client.links import Links
from server.client.members import Members
from server.client.operations import Operations
from server.client.patience import PATIENCE_SECONDS, Pause
from server.client.runs import Runs
from server.client.sessions import Sessions
from server.client.tokens import Tokens
from server.client.transport import Transport
from server.client.uploads import Uploads
from server.schemas.callers import Caller

DEFAULT_URL = "http://127.0.0.1:8080"
"""Where `xprof-hub serve` listens unless told otherwise."""


class HubClient:
    """Talks to one XProf Hub. Use it as a context manager, or call `close`.

    Every method raises `HubError`. Ids are plain text, and lists are iterators that fetch page after page.

        with HubClient("https://hub.example", token) as hub:
            for run in hub.runs.list('runSet = "llama"'):
                print(run.display_name)

    Attributes:
        runs: runs.
        discovery: taking folders in, and looking for sessions.
        groups: groups of runs.
        sessions: their sessions.
        comments: what people say about sessions.
        downloads: hosts' original profiles.
        comparisons: two sessions side by side.
        links: share links.
        tokens: API tokens.
        members: who has which role.
        audit: the audit log.
        device_codes: signing in without a token at hand.
        operations: what became of changes through the managed API.
        uploads: hosts' profiles on their way to the hub.
    """

    def __init__(
        self,
        url: str = DEFAULT_URL,
        token: str = "",
        *,
        patience: float = PATIENCE_SECONDS,
        on_pause: Callable[[Pause], None] | None = None,
    ) -> None:
        """Opens no connection yet.

        Args:
            url: the hub's address, with its path prefix if it has one.
            token: API token, empty for a hub with `XPROF_HUB_AUTH=dev`.
            patience: seconds that one answer is waited for in all while the hub is busy and says so.
            on_pause: hears of each such wait before it begins.
        """
        self.transport = Transport(url, token, patience=patience, on_pause=on_pause)
        self.runs = Runs(self.transport)
        self.discovery = Discovery(self.transport)
        self.groups = RunGroups(self.transport)
        self.sessions = Sessions(self.transport)
        self.comments = Comments(self.transport)
        self.downloads = Downloads(self.transport)
        self.comparisons = Comparisons(self.transport)
        self.links = Links(self.transport)
        self.tokens = Tokens(self.transport)
        self.members = Members(self.transport)
        self.audit = Audit(self.transport)
        self.device_codes = DeviceCodes(self.transport)
        self.operations = Operations(self.transport)
        self.uploads = Uploads(self.transport)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections."""
        self.transport.close()

    @property
    def url(self) -> str:
        """The hub's address, without trailing slash."""
        return self.transport.url

    def caller(self) -> Caller:
        """Who this client is to the hub."""
        return self.transport.get("/caller", Caller)

    def run_page(self, run: str) -> str:
        """Address of the page that shows a run to people who are signed in."""
        return f"{self.url}/runs/{quote(run, safe='')}"
