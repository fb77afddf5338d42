"""Who may change or delete a comment that is there: its author; and delete it, who moderates."""

from __future__ import annotations

from auth.identity import Principal
from auth.policy import Action, may
from server.http.error_table import FORBIDDEN
from server.http.errors import ApiError
from server.registry.comments import Comment


def is_author(principal: Principal, comment: Comment) -> bool:
    """Whether this principal said it; one without an identity has said nothing."""
    return bool(principal.id) and principal.id == comment.author


def may_delete(principal: Principal, comment: Comment, session: str) -> bool:
    """Whether this principal may delete it.

    Args:
        principal: who asks.
        comment: what was said.
        session: resource name of the session that it is about.
    """
    return is_author(principal, comment) or may(principal, Action.COMMENTS_MODERATE, session)


def require_author(principal: Principal, comment: Comment) -> None:
    """Refuses everybody but the author.

    Raises:
        ApiError: 403.
    """
    if not is_author(principal, comment):
        raise ApiError(FORBIDDEN, "Only its author may change a comment.")


def require_deleter(principal: Principal, comment: Comment, session: str) -> None:
    """Refuses everybody but the author and moderators.

    Raises:
        ApiError: 403.
    """
    if not may_delete(principal, comment, session):
        raise ApiError(FORBIDDEN, "Only its author or an admin may delete a comment.")
