"""The one place that says who may do what. Whatever the table doesn't allow is forbidden."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from auth.identity import Principal, Role


class Action(StrEnum):
    """Everything that can be asked for."""

    RUNS_READ = "runs.read"
    RUNS_WRITE = "runs.write"
    RUNS_REGISTER = "runs.register"
    """Make a run, or begin its next attempt, and tell how it ended."""
    SESSIONS_READ = "sessions.read"
    SESSIONS_WRITE = "sessions.write"
    SESSIONS_REGISTER = "sessions.register"
    """Attach a session, and tell more of it."""
    LINKS_CREATE = "links.create"
    """Make links, and change what they ask for."""
    LINKS_LIST = "links.list"
    LINKS_REVOKE = "links.revoke"
    FILES_READ = "files.read"
    """Download the profiles as they lie in storage."""
    COMMENTS_READ = "comments.read"
    COMMENTS_WRITE = "comments.write"
    """Comment, and change or delete one's own comments."""
    COMMENTS_MODERATE = "comments.moderate"
    """Delete anybody's."""
    HOLDS_MANAGE = "holds.manage"
    """Keep a session, run or group from being deleted by anybody, and let it go again."""
    GROUPS_READ = "groups.read"
    GROUPS_WRITE = "groups.write"
    RULES_READ = "rules.read"
    """Learn what may be shared, and how."""
    RULES_MANAGE = "rules.manage"
    MEMBERS_MANAGE = "members.manage"
    AUDIT_READ = "audit.read"
    TOKENS_MANAGE = "tokens.manage"
    OPERATIONS_READ = "operations.read"
    CALLER_READ = "caller.read"
    """Learn who one is here."""


@dataclass(frozen=True)
class _Rule:
    """Least role of people for an action, the collections that it is about, and whether jobs may."""

    role: Role
    collections: frozenset[str]
    is_for_jobs: bool = False


_RUNS = frozenset({"machineLearningRuns"})
_SESSIONS = frozenset({"machineLearningRuns", "comparisons"})
_LINKS = frozenset({"machineLearningRuns", "shareLinks"})
_TOKENS = frozenset({"apiTokens"})
_GROUPS = frozenset({"runGroups"})
_HELD = frozenset({"machineLearningRuns", "runGroups"})
_RULES_OF_SHARING = frozenset({"sharingRules"})
_MEMBERS = frozenset({"members"})
_AUDIT = frozenset({"auditEvents"})
_OPERATIONS = frozenset({"operations"})
_CALLER = frozenset({"caller"})

_RANK: Mapping[Role, int] = MappingProxyType({Role.VIEWER: 1, Role.EDITOR: 2, Role.ADMIN: 3})

_RULES: Mapping[Action, _Rule] = MappingProxyType(
    {
        Action.RUNS_READ: _Rule(Role.VIEWER, _RUNS),
        Action.RUNS_WRITE: _Rule(Role.EDITOR, _RUNS),
        Action.RUNS_REGISTER: _Rule(Role.EDITOR, _RUNS, is_for_jobs=True),
        Action.SESSIONS_READ: _Rule(Role.VIEWER, _SESSIONS),
        Action.SESSIONS_WRITE: _Rule(Role.EDITOR, _RUNS),
        Action.SESSIONS_REGISTER: _Rule(Role.EDITOR, _RUNS, is_for_jobs=True),
        Action.LINKS_CREATE: _Rule(Role.EDITOR, _LINKS),
        # A list holds no token, so it opens nothing; but who shares what is not every viewer's business.
        Action.LINKS_LIST: _Rule(Role.EDITOR, _LINKS),
        Action.LINKS_REVOKE: _Rule(Role.EDITOR, _LINKS),
        Action.FILES_READ: _Rule(Role.EDITOR, _RUNS),
        Action.COMMENTS_READ: _Rule(Role.VIEWER, _RUNS),
        Action.COMMENTS_WRITE: _Rule(Role.VIEWER, _RUNS),
        Action.COMMENTS_MODERATE: _Rule(Role.ADMIN, _RUNS),
        Action.HOLDS_MANAGE: _Rule(Role.ADMIN, _HELD),
        Action.GROUPS_READ: _Rule(Role.VIEWER, _GROUPS),
        Action.GROUPS_WRITE: _Rule(Role.EDITOR, _GROUPS),
        Action.RULES_READ: _Rule(Role.VIEWER, _RULES_OF_SHARING),
        Action.RULES_MANAGE: _Rule(Role.ADMIN, _RULES_OF_SHARING),
        Action.MEMBERS_MANAGE: _Rule(Role.ADMIN, _MEMBERS),
        Action.AUDIT_READ: _Rule(Role.ADMIN, _AUDIT),
        Action.TOKENS_MANAGE: _Rule(Role.ADMIN, _TOKENS),
        Action.OPERATIONS_READ: _Rule(Role.VIEWER, _OPERATIONS),
        Action.CALLER_READ: _Rule(Role.VIEWER, _CALLER, is_for_jobs=True),
    }
)


def collections_of(action: Action) -> frozenset[str]:
    """The collections of resources that an action is about."""
    return _RULES[action].collections


def may(principal: Principal | None, action: Action, resource: str) -> bool:
    """Whether the principal may do this to the resource.

    Args:
        principal: who asks; None for a caller whom nobody knows.
        action: what is asked.
        resource: resource name or collection, e.g. `machineLearningRuns/my run/profilerSessions/s1`.
    """
    rule = _RULES.get(action)
    if principal is None or rule is None:
        return False
    if resource.partition("/")[0] not in rule.collections:
        return False
    if principal.role is Role.INGEST:
        return rule.is_for_jobs
    return _RANK[principal.role] >= _RANK[rule.role]
