"""Run groups of a hub: how long their sessions are kept, and what they store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from server.client.paths import RUN_GROUPS, member_path
from server.client.transport import Call, Transport
from server.schemas.groups import RunGroup, RunGroupList


class RunGroups:
    """Reads and changes run groups; every method raises `HubError`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self) -> Iterator[RunGroup]:
        """All run groups by name, page by page."""
        for page in self._transport.pages(RUN_GROUPS, RunGroupList):
            yield from page.run_groups

    def get(self, group: str) -> RunGroup:
        """One run group.

        Raises:
            NotFoundError: no run is in it, and nobody has said anything of it.
        """
        return self._transport.get(member_path(RUN_GROUPS, group), RunGroup)

    def update(
        self,
        group: str,
        changes: RunGroup,
        mask: Sequence[str] = (),
        *,
        etag: str = "",
        allow_missing: bool = False,
    ) -> RunGroup:
        """Changes a run group; see `Runs.update`.

        Args:
            group: what its runs' `runSet` says.
            changes: the new values.
            mask: paths of the fields to change; all that `changes` sets unless given.
            etag: change it only if it is as this says.
            allow_missing: whether it may be a group that no run is in yet.
        """
        parameters = {
            "updateMask": ",".join(mask),
            "allowMissing": "true" if allow_missing else "",
        }
        headers = {"If-Match": f'"{etag}"'} if etag else {}
        call = Call("PATCH", member_path(RUN_GROUPS, group), parameters, changes, headers)
        return self._transport.send(call, RunGroup)
