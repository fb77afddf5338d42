"""Forms of the hub's own pages, read with the same limits everywhere."""

from __future__ import annotations

from urllib.parse import parse_qs

from fastapi import Request

from server.http.error_table import BODY_TOO_LARGE
from server.http.errors import ApiError
from server.http.limited_body import MAX_BODY_BYTES, BodyTooLargeError, read_limited_body

_MOST_FIELDS = 16


async def read_form(request: Request) -> dict[str, str]:
    """The first value of each field of a form.

    Raises:
        ApiError: 413.
    """
    try:
        body = await read_limited_body(request)
    except BodyTooLargeError as problem:
        message = f"A form has at most {MAX_BODY_BYTES} bytes."
        raise ApiError(BODY_TOO_LARGE, message, headers={"Connection": "close"}) from problem
    try:
        fields = parse_qs(body.decode(errors="replace"), max_num_fields=_MOST_FIELDS)
    except ValueError:
        return {}
    # PostgreSQL takes no text with a zero byte, and no browser's form has one.
    return {
        name: values[0].replace("\0", "\N{REPLACEMENT CHARACTER}")
        for name, values in fields.items()
    }
