"""Exit statuses of the commands, so that a script can tell what happened without reading sentences."""

from __future__ import annotations

from enum import IntEnum

from server.client import (
    ConflictError,
    HubError,
    InvalidRequestError,
    NotAllowedError,
    NotFoundError,
    NotSignedInError,
    UnreachableError,
)


class ExitStatus(IntEnum):
    """What a command's exit status says; docs/cli.md lists them."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    NOT_FOUND = 3
    NOT_ALLOWED = 4
    UNREACHABLE = 5
    CONFLICT = 6
    SLOWER = 7


MEANINGS: dict[ExitStatus, str] = {
    ExitStatus.DONE: "done",
    ExitStatus.FAILED: "failed in another way, which the message says",
    ExitStatus.USAGE: "wrong usage, or a value that the hub can't use",
    ExitStatus.NOT_FOUND: "there is no such run, session, link, token or operation",
    ExitStatus.NOT_ALLOWED: "not signed in, or not allowed",
    ExitStatus.UNREACHABLE: "the hub does not answer, or not at this moment",
    ExitStatus.CONFLICT: "it exists already, or was changed meanwhile, so nothing was changed",
    ExitStatus.SLOWER: "steps take longer than `compare --fail-above` allows",
}
_STATUSES: dict[type[HubError], ExitStatus] = {
    InvalidRequestError: ExitStatus.USAGE,
    NotFoundError: ExitStatus.NOT_FOUND,
    NotSignedInError: ExitStatus.NOT_ALLOWED,
    NotAllowedError: ExitStatus.NOT_ALLOWED,
    UnreachableError: ExitStatus.UNREACHABLE,
    ConflictError: ExitStatus.CONFLICT,
}


def exit_status(problem: HubError) -> ExitStatus:
    """The exit status of a command that ends with this."""
    return _STATUSES.get(type(problem), ExitStatus.FAILED)
