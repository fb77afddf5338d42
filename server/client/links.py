"""Share links of a hub."""

from __future__ import annotations

from collections.abc import Iterator

from server.client.paths import LINKS, member_path, run_path, session_path
from server.client.transport import Call, Transport
from server.link_schemas import CreatedLink, NewLink, ShareLink, ShareLinkList


class Links:
    """Makes, reads and revokes links; every method raises `HubError`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(self, run: str, session: str, link: NewLink) -> CreatedLink:
        """Makes a link to a session, or to the whole run when `session` is empty.

        Never sent twice by itself: the first link would stay behind, known to nobody.
        """
        target = session_path(run, session) if session else run_path(run)
        return self._transport.send(Call("POST", f"{target}/shareLinks", body=link), CreatedLink)

    def list(self, run: str = "", session: str = "") -> Iterator[ShareLink]:
        """All links, those of a run as a whole, or those of a session; newest first, page by page."""
        path = LINKS
        if run:
            target = session_path(run, session) if session else run_path(run)
            path = f"{target}/shareLinks"
        for page in self._transport.pages(path, ShareLinkList):
            yield from page.share_links

    def get(self, link: str) -> ShareLink:
        """One link by its id, which is not its token."""
        return self._transport.get(member_path(LINKS, link), ShareLink)

    def revoke(self, link: str) -> ShareLink:
        """Ends a link by its id; doing it twice does no harm."""
        call = Call("DELETE", member_path(LINKS, link), is_repeatable=True)
        return self._transport.send(call, ShareLink)
