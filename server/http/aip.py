"""The parts of Google's API Improvement Proposals that every resource shares.

Page tokens (AIP-158), sort orders (AIP-132) and etags (AIP-154); no route and no resource of its own. Field
masks stand in `server.http.masks`.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Annotated

from fastapi import Query
from pydantic import TypeAdapter

from server.http.errors import invalid_field
from server.names import has_controls, to_camel
from server.registry.pages import PageRequest, Position, SortValue

MAX_PAGE_SIZE = 1000
DEFAULT_PAGE_SIZE = 50
SORTABLE: Mapping[str, str] = MappingProxyType(
    {
        "name": "id",
        "displayName": "display_name",
        "createTime": "created",
        "updateTime": "updated",
    }
)
"""What lists of runs and of sessions can be sorted by: names of fields to the registry's."""
PageToken = Annotated[str, Query(alias="pageToken", max_length=4000)]
"""The token in the address of a page for people; empty for the first part of a list."""
_MOMENTS = frozenset({"created", "updated"})
"""Fields of the registry that hold moments; all others that can be sorted by hold texts."""
_TOKEN: TypeAdapter[tuple[str, str, str, int]] = TypeAdapter(tuple[str, str, str, int])


def page_request(
    *,
    size: int,
    token: str,
    order_by: str,
    sortable: Mapping[str, str],
    context: tuple[str, ...] = (),
) -> PageRequest:
    """What a list request asks for.

    Args:
        size: records wanted; 0 stands for the default, more than the most for the most.
        token: `nextPageToken` of the page before, or empty.
        order_by: a field's name, camelCase or snake_case, and ` desc`; empty for newest first.
        sortable: fields that can be sorted by, camelCase, to the registry's names.
        context: whatever else the list depends on; a token is good for the same list only.

    Raises:
        ApiError: naming the parameter.
    """
    if size < 0:
        raise invalid_field("pageSize", "Must not be negative.")
    field, descending = _order(order_by, sortable)
    mark = _fingerprint((field, str(descending), *context))
    after = _decode_page_token(token, mark, field in _MOMENTS) if token else None
    return PageRequest(min(size or DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE), field, descending, after)


def next_page_token(
    position: Position | None, request: PageRequest, context: tuple[str, ...] = ()
) -> str:
    """The token of the page after, empty after the last one."""
    if position is None:
        return ""
    value, key = position
    kind, text = ("t", value.isoformat()) if isinstance(value, datetime) else ("s", value)
    mark = _fingerprint((request.field, str(request.descending), *context))
    raw = json.dumps([mark, kind, text, key], ensure_ascii=True).encode()
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _decode_page_token(token: str, mark: str, is_moment: bool) -> Position:
    """The position that a page token holds; anybody can write one, so nothing in it is believed.

    Args:
        token: what the client sent.
        mark: fingerprint of the list that it must belong to.
        is_moment: whether the list is sorted by a moment.

    Raises:
        ApiError: it is no token of this list.
    """
    try:
        raw = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
        marked, kind, text, key = _TOKEN.validate_json(raw)
        value: SortValue = _moment(text) if kind == "t" else _line(text)
    except (binascii.Error, ValueError, OverflowError) as error:
        raise invalid_field("pageToken", "This is no token of a list.") from error
    if marked != mark or (kind == "t") != is_moment or abs(key) >= 1 << 31:
        raise invalid_field("pageToken", "This token belongs to another list, order or filter.")
    return value, key


def _moment(text: str) -> datetime:
    """The moment in UTC.

    Raises:
        ValueError, OverflowError: there is no such moment, or it has no zone.
    """
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError("a moment without time zone")
    return moment.astimezone(UTC)


def _line(text: str) -> str:
    """The text, unless a database can't hold it."""
    if has_controls(text):
        raise ValueError("a text with control characters")
    return text


def expected_etag(*candidates: str | None) -> str | None:
    """The etag that a client expects, from a body, a parameter or `If-Match`; None for any state.

    Raises:
        ApiError: it expects two different ones.
    """
    found = {_bare(text) for text in candidates if text}
    found.discard("*")
    if len(found) > 1:
        raise invalid_field("etag", "The etag and If-Match differ.")
    return found.pop() if found else None


def _order(order_by: str, sortable: Mapping[str, str]) -> tuple[str, bool]:
    if not order_by.strip():
        return "created", True
    words = order_by.split()
    direction = words[1].lower() if len(words) == 2 else "asc"
    field = sortable.get(to_camel(words[0]))
    if field is None or len(words) > 2 or direction not in {"asc", "desc"}:
        known = ", ".join(sortable)
        raise invalid_field("orderBy", f"Name one of {known}, and 'desc' for descending order.")
    return field, direction == "desc"


def _fingerprint(context: tuple[str, ...]) -> str:
    return hashlib.sha256(json.dumps(context).encode()).hexdigest()[:8]


def _bare(etag: str) -> str:
    """The etag without the quotes and the weakness mark of HTTP."""
    return etag.strip().removeprefix("W/").strip('"')
