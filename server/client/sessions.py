"""Sessions of a hub's runs: attach, read, change, merge."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from uuid import uuid4

from server.client.paths import session_path, sessions_path
from server.client.transport import Call, Transport
from server.schemas import EmptyAnswer, Session, SessionList
from server.schemas.progress import AnswerProgress
from server.sessions.schemas import MergeOffer, MergeOfferList, NewMerge, SessionHealth

_ACCEPTED = 202
_LOOK_SECONDS = 1
_READING_SECONDS = 600.0
"""How long an answer may take that needs all files read."""


class Sessions:
    """Reads and changes sessions; every method raises `HubError`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def attach(
        self, run: str, session: Session, session_id: str = "", *, prewarm: bool = True
    ) -> Session:
        """Attaches a profile to a run; its folder's name is the id unless one is given.

        Args:
            run: id of the run.
            session: says at least where the profile is.
            session_id: id of the session.
            prewarm: whether to convert its first page at once, if the hub does so at all.
        """
        parameters = {
            "profilerSessionId": session_id,
            "prewarm": "" if prewarm else "false",
            "requestId": str(uuid4()),
        }
        call = Call("POST", sessions_path(run), parameters, session, is_repeatable=True)
        return self._transport.send(call, Session)

    def get(self, run: str, session: str) -> Session:
        """One session with its hosts."""
        return self._transport.get(session_path(run, session), Session)

    def list(
        self, run: str, condition: str = "", order_by: str = "", *, show_deleted: bool = False
    ) -> Iterator[Session]:
        """All sessions of a run, newest first, page by page; see `Runs.list`."""
        shown = "true" if show_deleted else ""
        parameters = {"filter": condition, "orderBy": order_by, "showDeleted": shown}
        for page in self._transport.pages(sessions_path(run), SessionList, parameters):
            yield from page.profiler_sessions

    def update(
        self, run: str, session: str, changes: Session, mask: Sequence[str] = (), *, etag: str = ""
    ) -> Session:
        """Changes a session; see `Runs.update`."""
        parameters = {"updateMask": ",".join(mask)}
        headers = {"If-Match": f'"{etag}"'} if etag else {}
        call = Call("PATCH", session_path(run, session), parameters, changes, headers)
        return self._transport.send(call, Session)

    def delete(self, run: str, session: str) -> None:
        """Takes a session off its run and ends its links."""
        self._transport.send(Call("DELETE", session_path(run, session)), EmptyAnswer)

    def undelete(self, run: str, session: str) -> Session:
        """Brings back the session of this id that was deleted last; see `Runs.undelete`."""
        path = f"{session_path(run, session)}:undelete"
        return self._transport.send(Call("POST", path), Session)

    def health(
        self,
        run: str,
        session: str,
        *,
        on_progress: Callable[[AnswerProgress], None] | None = None,
    ) -> SessionHealth:
        """Looks every file over; takes as long as reading them, once for each version of them.

        Args:
            run: id of the run.
            session: id of the session.
            on_progress: hears about once a second how far that is.
        """
        path = f"{session_path(run, session)}/health"
        prefer = {"Prefer": f"respond-async, wait={_LOOK_SECONDS}"}
        call = Call("GET", path, headers=prefer, is_repeatable=True)
        while True:
            response = self._transport.exchange(call)
            if response.status_code != _ACCEPTED:
                return self._transport.read(response, SessionHealth)
            progress = self._transport.read(response, AnswerProgress)
            if on_progress is not None:
                on_progress(progress)
            # The hub has waited already; this only keeps a hub that doesn't from being asked without end.
            time.sleep(0.2)

    def cancel_prewarm(self, run: str, session: str) -> Session:
        """Ends the conversion in advance; what is converted by now is kept."""
        path = f"{session_path(run, session)}:cancelPrewarm"
        return self._transport.send(Call("POST", path, is_repeatable=True), Session)

    def list_merge_offers(self, run: str) -> tuple[MergeOffer, ...]:
        """Sessions of a run that are hosts of one capture; takes as long as reading their files."""
        path = f"{sessions_path(run)}:mergeable"
        call = Call("GET", path, is_repeatable=True, seconds=_READING_SECONDS)
        return self._transport.send(call, MergeOfferList).merge_offers

    def merge(self, run: str, merge: NewMerge) -> Session:
        """Makes one session of several that are hosts of one capture."""
        path = f"{sessions_path(run)}:merge"
        call = Call("POST", path, body=merge, seconds=_READING_SECONDS)
        return self._transport.send(call, Session)
