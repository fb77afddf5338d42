"""What the registry answers when it can't do what was asked, as values without HTTP."""

from __future__ import annotations

from enum import StrEnum


class RegistryProblem(StrEnum):
    """Kinds of refusal."""

    NOT_FOUND = "not_found"
    ALREADY_EXISTS = "already_exists"
    ETAG_MISMATCH = "etag_mismatch"
    TOO_COSTLY = "too_costly"
    NOT_EMPTY = "not_empty"
    LAST_ADMIN = "last_admin"
    HELD = "held"
    """A legal hold keeps it from being deleted."""
    FULL = "full"


class RegistryError(Exception):
    """A request that the registry refused; nothing was changed.

    Attributes:
        problem: what kind of refusal.
        message: one sentence for a person.
    """

    def __init__(self, problem: RegistryProblem, message: str) -> None:
        super().__init__(message)
        self.problem = problem
        self.message = message


def run_not_found(run: str) -> RegistryError:
    """The answer for a run that isn't there."""
    return RegistryError(RegistryProblem.NOT_FOUND, f"There is no run {run!r}.")


def session_not_found(run: str, session: str) -> RegistryError:
    """The answer for a session that isn't there."""
    return RegistryError(RegistryProblem.NOT_FOUND, f"Run {run!r} has no session {session!r}.")


class RegistryUnusableError(Exception):
    """The database can't serve this version of XProf Hub; the message says what to do."""


class DatabaseUnreachableError(RegistryUnusableError):
    """It does not answer, or refuses what every version asks of it."""
