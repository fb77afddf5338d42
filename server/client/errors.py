"""What can go wrong between a client and its hub, as exceptions that a program can tell apart.

Every message is one sentence for a person and holds no token. What helps stands in `next_step`. Nothing here
knows HTTP's library.
"""

from __future__ import annotations

from collections.abc import Sequence

from auth.tokens import redact
from server.schemas import Error


class HubError(Exception):
    """A request that failed; the base of all others.

    Attributes:
        status: HTTP status, or None when there was no answer.
        code: canonical name of the error (AIP-193), e.g. `NOT_FOUND`; empty when the hub gave none.
        reason: the hub's own name of what happened, e.g. `missing_hosts`; often empty.
        field: the field or parameter at fault, as the API writes it; empty if none is.
        hints: further lines, such as the sessions to choose from.
        next_step: what to do now, in words; empty when the message says it all.
        retry_after: after how many seconds the hub wants to be asked again; 0 when it doesn't say.
        ahead: how many it serves before, where there is a line; else None.
    """

    def __init__(
        self,
        message: str,
        status: int | None = None,
        hints: Sequence[str] = (),
        *,
        code: str = "",
        reason: str = "",
        field: str = "",
        next_step: str = "",
        retry_after: float = 0.0,
        ahead: int | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.reason = reason
        self.field = field
        self.hints = tuple(hints)
        self.next_step = next_step
        self.retry_after = retry_after
        self.ahead = ahead


class UnreachableError(HubError):
    """Nobody answered, or nobody who can at the moment (502, 503, 504)."""


class StrangeAnswerError(HubError):
    """Something answered that is not XProf Hub, or not one that this version understands."""


class InvalidRequestError(HubError):
    """The hub can't use what was sent; `field` names it."""


class NotSignedInError(HubError):
    """The hub asks for an API token, or for another one (401)."""


class NotAllowedError(HubError):
    """The token is good, and may not do this; or the hub may not read what it was pointed at (403)."""


class NotFoundError(HubError):
    """There is no such thing (404), or no more (410)."""


class ConflictError(HubError):
    """It exists already, or was changed meanwhile (409); nothing was changed."""


_KINDS: dict[int, type[HubError]] = {
    400: InvalidRequestError,
    401: NotSignedInError,
    403: NotAllowedError,
    404: NotFoundError,
    409: ConflictError,
    410: NotFoundError,
    413: InvalidRequestError,
    502: UnreachableError,
    503: UnreachableError,
    504: UnreachableError,
}
_NEXT_STEPS: dict[type[HubError], str] = {
    NotSignedInError: "Sign in with 'xprof-hub login', or set XPROF_HUB_TOKEN.",
    NotAllowedError: "'xprof-hub whoami' says who you are here.",
    UnreachableError: "Try again in a moment.",
}


def refusal(status: int, problem: Error, retry_after: float = 0.0) -> HubError:
    """The exception for an answer of the hub that is not a success.

    Args:
        status: HTTP status.
        problem: what the hub says.
        retry_after: see `HubError`.
    """
    first = problem.details[0] if problem.details else {}
    kind = _KINDS.get(status, HubError)
    if problem.status == "FAILED_PRECONDITION" and kind is InvalidRequestError:
        # Nothing is wrong with the request; things are not as it needs them.
        kind = HubError
    hints = [
        detail["description"]
        for detail in problem.details
        if detail.get("description") and detail["description"] not in problem.message
    ]
    return kind(
        problem.message,
        status,
        hints,
        code=problem.status,
        reason=first.get("reason", ""),
        field=first.get("field", ""),
        next_step=_NEXT_STEPS.get(kind, ""),
        retry_after=retry_after,
        ahead=ahead_of(problem),
    )


def ahead_of(problem: Error) -> int | None:
    """How many the hub serves before; None where there is no line."""
    text = next((detail["ahead"] for detail in problem.details if "ahead" in detail), "")
    return int(text) if text.isdecimal() else None


def strange_refusal(status: int, retry_after: float = 0.0) -> HubError:
    """The exception for an answer that is not a success, and not in the hub's shape."""
    kind = UnreachableError if status in {502, 503, 504} else StrangeAnswerError
    return kind(f"The address answered {status}.", status, retry_after=retry_after)


def led_away(status: int, place: str) -> StrangeAnswerError:
    """The exception for a redirect: a token is not taken along to wherever an answer says."""
    step = f"It leads to {redact(place)}: use that hub's address, if you trust it." if place else ""
    return StrangeAnswerError(f"The address answered {status}.", status, next_step=step)


def no_answer(url: str, problem: Exception) -> UnreachableError:
    """The exception for a request that got no answer."""
    reason = redact(str(problem)) or type(problem).__name__
    return UnreachableError(
        f"XProf Hub at {redact(url)} does not answer: {reason}",
        next_step="Is the address right, and the hub running? Set XPROF_HUB_URL, or sign in to another one.",
    )


def not_a_hub(url: str) -> StrangeAnswerError:
    """The exception for a success that is not in the API's shape."""
    return StrangeAnswerError(
        f"What answers at {redact(url)} is not XProf Hub.", next_step="Set XPROF_HUB_URL."
    )
