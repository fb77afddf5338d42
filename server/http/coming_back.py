"""What is told to those who came at a busy moment: in words, and to their browser or program in headers.

Tools in XProf's page say it in the same words (`static/comeback.js`), the command line in fewer
(`server.client.patience`). Knows no route, and decides nothing.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from fastapi import Response

from loader.errors import LoaderError
from server.http.errors import ErrorDetail
from server.ui.shell import Message

_READING = frozenset({"GET", "HEAD"})
_AGAIN = "This page tries again by itself in {wait}, or when you reload it."
_SEND_AGAIN = "Go back, and send it again in {wait}."


def busy_words(ahead: int | None) -> str:
    """That a worker is busy, without a full stop."""
    return f"Busy, {ahead} ahead of you" if ahead else "Busy at the moment"


def busy_sentence(error: LoaderError) -> str:
    """Why a part of a page is missing: in the words of all pages where there is a line."""
    return f"{busy_words(error.ahead)}. {error.message}" if error.ahead else error.message


def ahead_of(details: Sequence[ErrorDetail]) -> int | None:
    """How many go first, by the details of an error; None where there is no line."""
    text = next((one["ahead"] for one in details if "ahead" in one), "")
    return int(text) if text.isdecimal() else None


def seconds_of_page(seconds: int) -> int:
    """When a page asks again that was told to come back: later by chance, up to twice as late.

    Thousands who opened a link in the same second shall not come back in one.
    """
    return seconds + random.randint(0, seconds)  # noqa: S311 - no secret


def busy_page(
    method: str, title: str, text: str, seconds: int, *, names_request: bool = False
) -> Message:
    """A page of words for somebody who came at a busy moment.

    Args:
        method: HTTP method of the request.
        title: what is the matter.
        text: why, in a sentence.
        seconds: as of `seconds_of_page`.
        names_request: as in `Message`.
    """
    step = _AGAIN if method in _READING else _SEND_AGAIN
    wait = f"{seconds} s" if seconds < 120 else f"{-(-seconds // 60)} minutes"
    return Message(title, text, step.format(wait=wait), names_request)


def let_come_back(method: str, response: Response, told: int, seconds: int) -> None:
    """Lets programs know when to ask again, and has a browser that reads a page ask by itself.

    The header `Refresh` does what `<meta http-equiv="refresh">` does (HTML, 7.5.6). No form is sent again.

    Args:
        method: HTTP method of the request.
        response: the page.
        told: seconds, as in `Retry-After`.
        seconds: until the browser asks.
    """
    response.headers["Retry-After"] = str(told)
    if method in _READING:
        response.headers["Refresh"] = str(seconds)
