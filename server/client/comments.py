"""Comments on sessions of a hub."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

from server.client.paths import member_path, session_path
from server.client.transport import Call, Transport
from server.comment_schemas import Comment, CommentList, NewComment
from server.schemas import EmptyAnswer
from server.xprof.views import NewView


class Comments:
    """Reads, makes and deletes comments; every method raises `HubError`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(self, run: str, session: str, text: str, view: NewView | None = None) -> Comment:
        """Adds a comment to a session, or to a view of it."""
        body = NewComment(text=text, view=view) if view else NewComment(text=text)
        parameters = {"requestId": str(uuid4())}
        call = Call("POST", _comments(run, session), parameters, body, is_repeatable=True)
        return self._transport.send(call, Comment)

    def list(self, run: str, session: str) -> Iterator[Comment]:
        """All comments on a session, newest first, page by page."""
        for page in self._transport.pages(_comments(run, session), CommentList):
            yield from page.comments

    def update(self, run: str, session: str, comment: str, text: str, *, etag: str = "") -> Comment:
        """Changes the text of one's own comment."""
        headers = {"If-Match": f'"{etag}"'} if etag else {}
        call = Call(
            "PATCH", _comment(run, session, comment), body=Comment(text=text), headers=headers
        )
        return self._transport.send(call, Comment)

    def delete(self, run: str, session: str, comment: str) -> None:
        """Deletes a comment for good."""
        self._transport.send(Call("DELETE", _comment(run, session, comment)), EmptyAnswer)


def _comments(run: str, session: str) -> str:
    return f"{session_path(run, session)}/comments"


def _comment(run: str, session: str, comment: str) -> str:
    return member_path(_comments(run, session), comment)
