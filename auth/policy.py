"""The one place that says who may do what. Whatever the table doesn't allow is forbidden."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from auth.identity import Principal, Role


class Action(StrEnum):
    """Everything that can be asked for; what each means stands with its rule below."""

    RUNS_READ = "runs.read"
    RUNS_WRITE = "runs.write"
    RUNS_REGISTER = "runs.register"
    SESSIONS_READ = "sessions.read"
    SESSIONS_WRITE = "sessions.write"
    SESSIONS_REGISTER = "sessions.register"
    LINKS_CREATE = "links.create"
    LINKS_LIST = "links.list"
    LINKS_REVOKE = "links.revoke"
    FILES_READ = "files.read"
    COMMENTS_READ = "comments.read"
    COMMENTS_WRITE = "comments.write"
    COMMENTS_MODERATE = "comments.moderate"
    HOLDS_MANAGE = "holds.manage"
    GROUPS_READ = "groups.read"
    GROUPS_WRITE = "groups.write"
    RULES_READ = "rules.read"
    RULES_MANAGE = "rules.manage"
    MEMBERS_MANAGE = "members.manage"
    AUDIT_READ = "audit.read"
    TOKENS_MANAGE = "tokens.manage"
    OPERATIONS_READ = "operations.read"
    CALLER_READ = "caller.read"


@dataclass(frozen=True)
class Rule:
    """Who may do what an action stands for.

    Attributes:
        role: least role of people.
        collections: the kinds of resources that it is about.
        meaning: a sentence for people; `docs/access.md` is made of these.
        is_for_jobs: whether jobs may, too.
    """

    role: Role
    collections: frozenset[str]
    meaning: str
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

_RULES: Mapping[Action, Rule] = MappingProxyType(
    {
        Action.RUNS_READ: Rule(
            Role.VIEWER, _RUNS, "See runs, their pages and what happened to them."
        ),
        Action.RUNS_WRITE: Rule(
            Role.EDITOR,
            _RUNS,
            "Change and delete runs, bring them back, and take folders in as runs.",
        ),
        Action.RUNS_REGISTER: Rule(
            Role.EDITOR,
            _RUNS,
            "Make a run, or begin its next attempt, and tell how it ended.",
            is_for_jobs=True,
        ),
        Action.SESSIONS_READ: Rule(
            Role.VIEWER, _SESSIONS, "Open sessions in XProf, see their pages, and compare them."
        ),
        Action.SESSIONS_WRITE: Rule(
            Role.EDITOR, _RUNS, "Change, merge and delete sessions, bring them back, and pin them."
        ),
        Action.SESSIONS_REGISTER: Rule(
            Role.EDITOR, _RUNS, "Attach or upload a session, and tell more of it.", is_for_jobs=True
        ),
        Action.LINKS_CREATE: Rule(Role.EDITOR, _LINKS, "Make links, and change what they ask for."),
        # A list holds no token, so it opens nothing; but who shares what is not every viewer's business.
        Action.LINKS_LIST: Rule(Role.EDITOR, _LINKS, "See who shares what."),
        Action.LINKS_REVOKE: Rule(Role.EDITOR, _LINKS, "End links."),
        Action.FILES_READ: Rule(
            Role.EDITOR, _RUNS, "Download the profiles as they lie in storage."
        ),
        Action.COMMENTS_READ: Rule(Role.VIEWER, _RUNS, "Read comments."),
        Action.COMMENTS_WRITE: Rule(
            Role.VIEWER, _RUNS, "Comment, and change or delete one's own comments."
        ),
        Action.COMMENTS_MODERATE: Rule(Role.ADMIN, _RUNS, "Delete anybody's comments."),
        Action.HOLDS_MANAGE: Rule(
            Role.ADMIN,
            _HELD,
            "Keep a session, run or group from being deleted by anybody, and let it go again.",
        ),
        Action.GROUPS_READ: Rule(Role.VIEWER, _GROUPS, "See groups of runs, and what they store."),
        Action.GROUPS_WRITE: Rule(
            Role.EDITOR, _GROUPS, "Say how long a group's sessions are kept."
        ),
        Action.RULES_READ: Rule(
            Role.VIEWER, _RULES_OF_SHARING, "Learn what may be shared, and how."
        ),
        Action.RULES_MANAGE: Rule(
            Role.ADMIN, _RULES_OF_SHARING, "Say what may be shared, and how."
        ),
        Action.MEMBERS_MANAGE: Rule(
            Role.ADMIN, _MEMBERS, "Say who has which role, and sign people out."
        ),
        Action.AUDIT_READ: Rule(Role.ADMIN, _AUDIT, "Read and export the audit log."),
        Action.TOKENS_MANAGE: Rule(Role.ADMIN, _TOKENS, "Make, list and revoke API tokens."),
        Action.OPERATIONS_READ: Rule(
            Role.VIEWER, _OPERATIONS, "See what became of changes through the managed API."
        ),
        Action.CALLER_READ: Rule(Role.VIEWER, _CALLER, "Learn who one is here.", is_for_jobs=True),
    }
)


def rule_of(action: Action) -> Rule:
    """Who may do what an action stands for."""
    return _RULES[action]


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
