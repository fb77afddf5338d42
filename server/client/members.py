"""Members of a hub: who has which role."""

from __future__ import annotations

from collections.abc import Iterator

from auth.identity import Role
from auth.members import member_id, read_member
from server.client.paths import MEMBERS, member_path
from server.client.transport import Call, Transport
from server.schemas import EmptyAnswer
from server.schemas.members import Member, MemberList, NewMember


class Members:
    """Adds, reads, changes and removes members; every method raises `HubError`.

    A member is named as it was added (`user:ann@example.org`, `ann@example.org`), or by its id.
    """

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def add(self, member: str, role: Role) -> Member:
        """Gives a person, group or domain a role; never sent twice by itself.

        Raises:
            ValueError: this is no member.
        """
        body = NewMember(member=read_member(member), role=role)
        return self._transport.send(Call("POST", MEMBERS, body=body), Member)

    def list(self) -> Iterator[Member]:
        """All members, newest first, page by page."""
        for page in self._transport.pages(MEMBERS, MemberList):
            yield from page.members

    def get(self, member: str) -> Member:
        """One member."""
        return self._transport.get(_path(member), Member)

    def update(self, member: str, role: Role) -> Member:
        """Gives a member another role."""
        call = Call("PATCH", _path(member), body=Member(role=role), is_repeatable=True)
        return self._transport.send(call, Member)

    def remove(self, member: str) -> None:
        """Takes a member its role."""
        self._transport.send(Call("DELETE", _path(member)), EmptyAnswer)


def _path(member: str) -> str:
    is_written = ":" in member or "@" in member
    return member_path(MEMBERS, member_id(read_member(member)) if is_written else member)
