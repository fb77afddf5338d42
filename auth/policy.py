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
    SESSIONS_READ = "sessions.read"
    SESSIONS_WRITE = "sessions.write"
    LINKS_CREATE = "links.create"
    LINKS_LIST = "links.list"
    LINKS_REVOKE = "links.revoke"
    TOKENS_MANAGE = "tokens.manage"


@dataclass(frozen=True)
class _Rule:
    """Least role for an action, and the collections that it is about."""

    role: Role
    collections: frozenset[str]


_RUNS = frozenset({"machineLearningRuns"})
_LINKS = frozenset({"machineLearningRuns", "shareLinks"})
_TOKENS = frozenset({"apiTokens"})

_RANK: Mapping[Role, int] = MappingProxyType({Role.VIEWER: 1, Role.EDITOR: 2, Role.ADMIN: 3})

_RULES: Mapping[Action, _Rule] = MappingProxyType(
    {
        Action.RUNS_READ: _Rule(Role.VIEWER, _RUNS),
        Action.RUNS_WRITE: _Rule(Role.EDITOR, _RUNS),
        Action.SESSIONS_READ: _Rule(Role.VIEWER, _RUNS),
        Action.SESSIONS_WRITE: _Rule(Role.EDITOR, _RUNS),
        Action.LINKS_CREATE: _Rule(Role.EDITOR, _RUNS),
        # A list holds no token, so it opens nothing; but who shares what is not every viewer's business.
        Action.LINKS_LIST: _Rule(Role.EDITOR, _LINKS),
        Action.LINKS_REVOKE: _Rule(Role.EDITOR, _LINKS),
        Action.TOKENS_MANAGE: _Rule(Role.ADMIN, _TOKENS),
    }
)


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
    collection = resource.partition("/")[0]
    return collection in rule.collections and _RANK[principal.role] >= _RANK[rule.role]
