"""Share links of a hub, and the rules for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from auth.tokens import hash_token
from server.client.paths import LINKS, SHARING_RULES, member_path, run_path, session_path
from server.client.transport import Call, Transport
from server.links.schemas import (
    CreatedLink,
    LinkChange,
    NewLink,
    ShareLink,
    ShareLinkList,
    SharingRules,
    SharingRulesChange,
)


class Links:
    """Makes, reads, changes and revokes links; every method raises `HubError`."""

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

    def find(self, token: str) -> ShareLink | None:
        """The link that has a token, which is not sent; None if there is none."""
        parameters = {"tokenHash": hash_token(token)}
        for page in self._transport.pages(LINKS, ShareLinkList, parameters):
            return next(iter(page.share_links), None)
        return None

    def update(
        self, link: str, changes: LinkChange, mask: Sequence[str] = (), *, etag: str = ""
    ) -> ShareLink:
        """Changes a link; counts at the next request.

        Args:
            link: its id.
            changes: the new values.
            mask: paths of the fields to change; all that `changes` sets unless given.
            etag: change it only if it is as this says.
        """
        parameters = {"updateMask": ",".join(mask)}
        headers = {"If-Match": f'"{etag}"'} if etag else {}
        call = Call("PATCH", member_path(LINKS, link), parameters, changes, headers)
        return self._transport.send(call, ShareLink)

    def revoke(self, link: str) -> ShareLink:
        """Ends a link by its id; doing it twice does no harm."""
        call = Call("DELETE", member_path(LINKS, link), is_repeatable=True)
        return self._transport.send(call, ShareLink)

    def rules(self) -> SharingRules:
        """What links may be."""
        return self._transport.get(SHARING_RULES, SharingRules)

    def change_rules(
        self, changes: SharingRulesChange, mask: Sequence[str] = (), *, etag: str = ""
    ) -> SharingRules:
        """Changes what links may be, those that exist too; arguments as of `update`."""
        parameters = {"updateMask": ",".join(mask)}
        headers = {"If-Match": f'"{etag}"'} if etag else {}
        call = Call("PATCH", SHARING_RULES, parameters, changes, headers)
        return self._transport.send(call, SharingRules)
