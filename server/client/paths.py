"""Paths of resources below `/v1`; ids are plain text and are percent-encoded here."""

from __future__ import annotations

from urllib.parse import quote

RUNS = "/machineLearningRuns"
LINKS = "/shareLinks"
SHARING_RULES = "/sharingRules"
TOKENS = "/apiTokens"
MEMBERS = "/members"
OPERATIONS = "/operations"
AUDIT_EVENTS = "/auditEvents"
RUN_GROUPS = "/runGroups"


def run_path(run: str) -> str:
    """Path of a run."""
    return f"{RUNS}/{quote(run, safe='')}"


def sessions_path(run: str) -> str:
    """Path of a run's sessions."""
    return f"{run_path(run)}/profilerSessions"


def session_path(run: str, session: str) -> str:
    """Path of a session."""
    return f"{sessions_path(run)}/{quote(session, safe='')}"


def member_path(collection: str, name: str) -> str:
    """Path of what a collection holds under a name."""
    return f"{collection}/{quote(name, safe='')}"
