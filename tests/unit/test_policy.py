"""The policy's table, role by role; whatever it doesn't say is forbidden."""

from __future__ import annotations

import pytest

from auth.identity import Principal, Role
from auth.policy import Action, may

RESOURCES = {
    Action.RUNS_READ: "machineLearningRuns/r",
    Action.RUNS_WRITE: "machineLearningRuns",
    Action.RUNS_REGISTER: "machineLearningRuns",
    Action.SESSIONS_READ: "machineLearningRuns/r/profilerSessions/s",
    Action.SESSIONS_WRITE: "machineLearningRuns/r/profilerSessions",
    Action.SESSIONS_REGISTER: "machineLearningRuns/r/profilerSessions",
    Action.LINKS_CREATE: "machineLearningRuns/r/profilerSessions/s/shareLinks",
    Action.LINKS_LIST: "shareLinks",
    Action.LINKS_REVOKE: "shareLinks/l",
    Action.FILES_READ: "machineLearningRuns/r/profilerSessions/s",
    Action.COMMENTS_READ: "machineLearningRuns/r/profilerSessions/s",
    Action.COMMENTS_WRITE: "machineLearningRuns/r/profilerSessions/s",
    Action.COMMENTS_MODERATE: "machineLearningRuns/r/profilerSessions/s",
    Action.HOLDS_MANAGE: "runGroups/g",
    Action.GROUPS_READ: "runGroups",
    Action.GROUPS_WRITE: "runGroups/g",
    Action.RULES_READ: "sharingRules",
    Action.RULES_MANAGE: "sharingRules",
    Action.MEMBERS_MANAGE: "members",
    Action.AUDIT_READ: "auditEvents",
    Action.TOKENS_MANAGE: "apiTokens",
    Action.OPERATIONS_READ: "operations/o",
    Action.CALLER_READ: "caller",
}
INGEST = {Action.RUNS_REGISTER, Action.SESSIONS_REGISTER, Action.CALLER_READ}
VIEWER = {
    Action.RUNS_READ,
    Action.SESSIONS_READ,
    Action.OPERATIONS_READ,
    Action.CALLER_READ,
    Action.COMMENTS_READ,
    Action.COMMENTS_WRITE,
    Action.GROUPS_READ,
    Action.RULES_READ,
}
EDITOR = VIEWER | {
    Action.RUNS_WRITE,
    Action.RUNS_REGISTER,
    Action.SESSIONS_WRITE,
    Action.SESSIONS_REGISTER,
    Action.LINKS_CREATE,
    Action.LINKS_LIST,
    Action.LINKS_REVOKE,
    Action.FILES_READ,
    Action.GROUPS_WRITE,
}
ADMIN = EDITOR | {
    Action.TOKENS_MANAGE,
    Action.COMMENTS_MODERATE,
    Action.HOLDS_MANAGE,
    Action.RULES_MANAGE,
    Action.MEMBERS_MANAGE,
    Action.AUDIT_READ,
}


@pytest.mark.parametrize(
    ("role", "allowed"),
    [
        (Role.INGEST, INGEST),
        (Role.VIEWER, VIEWER),
        (Role.EDITOR, EDITOR),
        (Role.ADMIN, ADMIN),
    ],
)
def test_each_role_may_exactly_what_it_is_for(role: Role, allowed: set[Action]) -> None:
    someone = Principal("someone", role)
    assert {action for action in Action if may(someone, action, RESOURCES[action])} == allowed


def test_a_stranger_may_nothing() -> None:
    assert not any(may(None, action, RESOURCES[action]) for action in Action)


def test_an_action_on_another_kind_of_resource_is_forbidden() -> None:
    admin = Principal("admin", Role.ADMIN)
    assert not may(admin, Action.RUNS_READ, "apiTokens")
    assert not may(admin, Action.TOKENS_MANAGE, "machineLearningRuns/apiTokens")
    assert not may(admin, Action.RUNS_READ, "")
