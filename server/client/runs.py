"""Runs of a hub."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from uuid import uuid4

from server.client.paths import RUNS, run_path
from server.client.transport import Call, Transport
from server.registry.records import RunState
from server.schemas import EmptyAnswer, Run, RunList


class Runs:
    """Reads and changes runs; every method raises `HubError`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(self, run: Run, run_id: str = "") -> Run:
        """Makes a run; the hub makes up an id unless one is given.

        Raises:
            ConflictError: there is one of this id.
        """
        parameters = {"machineLearningRunId": run_id, "requestId": str(uuid4())}
        return self._transport.send(Call("POST", RUNS, parameters, run, is_repeatable=True), Run)

    def get(self, run: str) -> Run:
        """One run.

        Raises:
            NotFoundError: there is no such run.
        """
        return self._transport.get(run_path(run), Run)

    def list(
        self, condition: str = "", order_by: str = "", *, show_deleted: bool = False
    ) -> Iterator[Run]:
        """All runs, newest first, page by page.

        Args:
            condition: a `filter` of the API (AIP-160).
            order_by: a field, and ` desc` for descending.
            show_deleted: whether those are listed too that were deleted and can come back.
        """
        shown = "true" if show_deleted else ""
        parameters = {"filter": condition, "orderBy": order_by, "showDeleted": shown}
        for page in self._transport.pages(RUNS, RunList, parameters):
            yield from page.machine_learning_runs

    def update(self, run: str, changes: Run, mask: Sequence[str] = (), *, etag: str = "") -> Run:
        """Changes a run.

        Args:
            run: its id.
            changes: the new values.
            mask: paths of the fields to change; all that `changes` sets unless given.
            etag: change it only if it is as this says.

        Raises:
            ConflictError: the etag is another one by now; nothing was changed.
        """
        parameters = {"updateMask": ",".join(mask)}
        headers = {"If-Match": f'"{etag}"'} if etag else {}
        return self._transport.send(Call("PATCH", run_path(run), parameters, changes, headers), Run)

    def end(self, run: str, state: RunState = RunState.COMPLETED) -> Run:
        """Ends a run."""
        return self.update(run, Run(state=state), ["state"])

    def delete(self, run: str) -> None:
        """Deletes a run with its sessions and links; profiles in storage stay."""
        self._transport.send(Call("DELETE", run_path(run)), EmptyAnswer)

    def undelete(self, run: str) -> Run:
        """Brings back the run of this id that was deleted last, with its sessions; links stay ended.

        Raises:
            ConflictError: another run has its id by now.
            NotFoundError: there is none that could come back.
        """
        return self._transport.send(Call("POST", f"{run_path(run)}:undelete"), Run)
