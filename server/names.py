"""Names in the API: ids, resource names (AIP-122) and the two spellings of fields. Imports nothing heavy."""

from __future__ import annotations

import re
import unicodedata

MAX_ID_BYTES = 200
"""Longest id of a run or a session, in bytes of UTF-8."""
LONGEST_LINE = 500
"""Characters of a text of one line."""

_HUMP = re.compile(r"(?<!^)(?=[A-Z])")


def run_name(run: str) -> str:
    """Resource name of a run (not percent-encoded)."""
    return f"machineLearningRuns/{run}"


def session_name(run: str, session: str) -> str:
    """Resource name of a session (not percent-encoded)."""
    return f"{run_name(run)}/profilerSessions/{session}"


def comment_name(run: str, session: str, comment: str) -> str:
    """Resource name of a comment (not percent-encoded)."""
    return f"{session_name(run, session)}/comments/{comment}"


def link_name(link: str) -> str:
    """Resource name of a share link."""
    return f"shareLinks/{link}"


def token_name(token: str) -> str:
    """Resource name of an API token."""
    return f"apiTokens/{token}"


def operation_name(operation: str) -> str:
    """Resource name of an operation."""
    return f"operations/{operation}"


def member_name(member: str) -> str:
    """Resource name of a member."""
    return f"members/{member}"


def group_name(group: str) -> str:
    """Resource name of a run group (not percent-encoded)."""
    return f"runGroups/{group}"


def browser_session_name(session: str) -> str:
    """Name of somebody's signing in, for the audit log; there is no such resource."""
    return f"browserSessions/{session}"


def audit_event_name(event: str) -> str:
    """Resource name of an event of the audit log."""
    return f"auditEvents/{event}"


def check_id(text: str) -> str:
    """The text, if it can be the id of a run or session.

    Raises:
        ValueError: with a sentence that says what is wrong with it.
    """
    if not text:
        raise ValueError("An id can't be empty.")
    if text in {".", ".."} or "/" in text:
        raise ValueError("An id can't hold a slash, nor be '.' or '..'.")
    if has_controls(text):
        raise ValueError("An id can't hold control characters.")
    if len(text.encode()) > MAX_ID_BYTES:
        raise ValueError(f"An id has at most {MAX_ID_BYTES} bytes of UTF-8.")
    return text


def is_id(text: str) -> bool:
    """Whether a text can be the id of a run or session."""
    try:
        check_id(text)
    except ValueError:
        return False
    return True


def has_controls(text: str) -> bool:
    """Whether a text holds control characters, line breaks among them, or halves of characters."""
    return any(unicodedata.category(character) in {"Cc", "Cs"} for character in text)


def to_snake(name: str) -> str:
    """`displayName` and `display_name` to `display_name`."""
    return _HUMP.sub("_", name).lower()


def to_camel(name: str) -> str:
    """`display_name` to `displayName`."""
    first, *others = name.split("_")
    return first + "".join(part.capitalize() for part in others)
