"""API tokens of a hub."""

from __future__ import annotations

from collections.abc import Iterator

from auth.identity import Role
from server.client.paths import TOKENS, member_path
from server.client.transport import Call, Transport
from server.schemas import ApiToken, ApiTokenList, CreatedToken, NewToken


class Tokens:
    """Makes, reads and revokes API tokens; every method raises `HubError`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(self, name: str, role: Role, ttl: str | None = None) -> CreatedToken:
        """Makes an API token; never sent twice by itself.

        Args:
            name: what it is for.
            role: how much it may do.
            ttl: lifetime such as `7d`; it works until it is revoked unless given.
        """
        body = NewToken(display_name=name, role=role, ttl=ttl)
        return self._transport.send(Call("POST", TOKENS, body=body), CreatedToken)

    def list(self) -> Iterator[ApiToken]:
        """All API tokens, newest first, page by page."""
        for page in self._transport.pages(TOKENS, ApiTokenList):
            yield from page.api_tokens

    def get(self, token: str) -> ApiToken:
        """One API token by its id, which is not its secret."""
        return self._transport.get(member_path(TOKENS, token), ApiToken)

    def revoke(self, token: str) -> ApiToken:
        """Ends an API token by its id; doing it twice does no harm."""
        call = Call("DELETE", member_path(TOKENS, token), is_repeatable=True)
        return self._transport.send(call, ApiToken)
