"""`Prefer: respond-async, wait=10`: a caller who would rather come back than wait (RFC 7240)."""

from __future__ import annotations

from collections.abc import Iterable

APPLIED_HEADER = "Preference-Applied"
RESPOND_ASYNC = "respond-async"
_MOST_DIGITS = 6


def async_patience(values: Iterable[str]) -> float | None:
    """How many seconds a caller waits before it would rather come back; None when it just waits.

    A `wait` that can't be read counts as 0; a preference that isn't known is ignored, as the RFC asks.

    Args:
        values: the request's `Prefer` headers.
    """
    found: dict[str, str] = {}
    for preference in ",".join(values).split(","):
        name, _, value = preference.partition(";")[0].partition("=")
        # Of a preference that is there twice the first one counts.
        found.setdefault(name.strip().lower(), value.strip().strip('"'))
    if RESPOND_ASYNC not in found:
        return None
    wait = found.get("wait", "")
    is_number = wait.isascii() and wait.isdigit() and len(wait) <= _MOST_DIGITS
    return float(wait) if is_number else 0.0
