"""`.../comments`: what people say about a session, or about a view of it.

For people and programs with a role only: no share link shows comments (docs/adr/038).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Annotated

from fastapi import Depends, Query, Request, Response

from auth.identity import Principal
from auth.policy import Action
from server.audit.notes import note_audited
from server.callers.access import api_router, require
from server.comment_schemas import Comment, CommentList, CommentListParameters, NewComment
from server.comments.rules import require_author, require_deleter
from server.http.aip import expected_etag, next_page_token, page_request
from server.http.errors import invalid_field
from server.http.masks import read_mask
from server.http.repeated import RepeatableParameters, make_once, repeatable
from server.names import comment_name, session_name
from server.registry import comments
from server.routes.runs import DeleteParameters, IfMatch, UpdateParameters
from server.schemas import EmptyAnswer, ResourceId
from server.services import ServicesDependency
from server.site.public_address import PageBase, dashboard_uri
from server.xprof.views import query_of, stored_view

router = api_router("/v1/machineLearningRuns/{run}/profilerSessions/{session}/comments", "comments")

Reader = Annotated[Principal, Depends(require(Action.COMMENTS_READ))]
Writer = Annotated[Principal, Depends(require(Action.COMMENTS_WRITE))]
_SORTABLE: Mapping[str, str] = MappingProxyType({"createTime": "created"})


@router.post("")
def create_comment(
    request: Request,
    services: ServicesDependency,
    principal: Writer,
    run: ResourceId,
    session: ResourceId,
    parameters: Annotated[RepeatableParameters, Query()],
    body: NewComment,
    base: PageBase,
) -> Comment:
    """Adds a comment to a session. At most 1000 are kept for each."""
    if body.view.session:
        raise invalid_field("view.session", "A comment is about the session in its path.")
    place = session_name(run, session)
    repeat = repeatable(principal, parameters.request_id, f"{place}/comments", body)
    new = comments.NewComment(principal.id, principal.name, body.text, body.view.to_stored())

    def make() -> comments.Comment:
        return comments.create_comment(
            services.database, run, session, new, now=datetime.now(UTC), request=repeat
        )

    def find(comment: str) -> comments.Comment:
        return comments.get_comment(services.database, run, session, comment)

    made = make_once(services.database, repeat, make, find)
    note_audited(request, comment_name(run, session, made.id))
    return _resource(run, session, made, base)


@router.get("")
def list_comments(
    services: ServicesDependency,
    _principal: Reader,
    run: ResourceId,
    session: ResourceId,
    parameters: Annotated[CommentListParameters, Query()],
    base: PageBase,
) -> CommentList:
    """Lists a session's comments, newest first unless `orderBy` says otherwise."""
    context = ("comments", run, session)
    wanted = page_request(
        size=parameters.page_size,
        token=parameters.page_token,
        order_by=parameters.order_by,
        sortable=_SORTABLE,
        context=context,
    )
    page = comments.list_comments(services.database, run, session, wanted)
    return CommentList(
        comments=[_resource(run, session, comment, base) for comment in page.records],
        next_page_token=next_page_token(page.next, wanted, context),
        total_size=comments.count_comments(services.database, run, session),
    )


@router.get("/{comment}")
def get_comment(
    services: ServicesDependency,
    _principal: Reader,
    run: ResourceId,
    session: ResourceId,
    comment: ResourceId,
    response: Response,
    base: PageBase,
) -> Comment:
    """Answers one comment, with its etag also as a header."""
    found = comments.get_comment(services.database, run, session, comment)
    response.headers["ETag"] = f'"{found.etag}"'
    return _resource(run, session, found, base)


@router.patch("/{comment}")
def update_comment(
    request: Request,
    services: ServicesDependency,
    principal: Writer,
    run: ResourceId,
    session: ResourceId,
    comment: ResourceId,
    parameters: Annotated[UpdateParameters, Query()],
    body: Comment,
    base: PageBase,
    if_match: IfMatch = None,
) -> Comment:
    """Changes a comment's text, for its author only. 409 when it is not as the etag says."""
    found = comments.get_comment(services.database, run, session, comment)
    require_author(principal, found)
    mask = read_mask(
        parameters.update_mask, fields={"text"}, documents=(), sent=body.model_fields_set
    )
    if mask.covers("text") and not body.text:
        raise invalid_field("text", "Say something.")
    etag = expected_etag(body.etag, if_match)
    changed = comments.change_comment(
        services.database,
        run,
        session,
        comment,
        body.text if mask.covers("text") else None,
        etag=etag,
        now=datetime.now(UTC),
    )
    note_audited(request, comment_name(run, session, comment))
    return _resource(run, session, changed, base)


@router.delete("/{comment}")
def delete_comment(
    request: Request,
    services: ServicesDependency,
    principal: Writer,
    run: ResourceId,
    session: ResourceId,
    comment: ResourceId,
    parameters: Annotated[DeleteParameters, Query()],
    if_match: IfMatch = None,
) -> EmptyAnswer:
    """Deletes a comment for good, for its author and for admins."""
    found = comments.get_comment(services.database, run, session, comment)
    require_deleter(principal, found, session_name(run, session))
    etag = expected_etag(parameters.etag, if_match)
    comments.delete_comment(services.database, run, session, comment, etag=etag)
    note_audited(request, comment_name(run, session, comment), author=found.author)
    return EmptyAnswer()


def _resource(run: str, session: str, comment: comments.Comment, base: str) -> Comment:
    view = stored_view(comment.view)
    query = query_of(view)
    address = dashboard_uri(base, run, session)
    return Comment(
        name=comment_name(run, session, comment.id),
        uid=comment.id,
        etag=comment.etag,
        creator=comment.author_name,
        author=comment.author,
        create_time=comment.created,
        update_time=comment.updated,
        text=comment.text,
        view=view,
        dashboard_uri=f"{address}?{query}" if query else address,
    )
