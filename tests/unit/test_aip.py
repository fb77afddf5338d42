"""Page tokens, orders, etags and ids as the API Improvement Proposals have them."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime

import pytest

from server.http.aip import expected_etag, next_page_token, page_request
from server.http.errors import ApiError
from server.names import check_id, to_camel, to_snake
from server.registry.pages import PageRequest, Position

SORTABLE = {"createTime": "created", "displayName": "display_name"}
WHEN = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)


def request(
    token: str = "", order_by: str = "", size: int = 0, context: tuple[str, ...] = ("a",)
) -> PageRequest:
    return page_request(
        size=size, token=token, order_by=order_by, sortable=SORTABLE, context=context
    )


@pytest.mark.parametrize(
    ("position", "order_by"), [((WHEN, 7), ""), (("ü \U0001f600 %", 1), "displayName")]
)
def test_a_page_token_brings_back_its_position(position: Position, order_by: str) -> None:
    token = next_page_token(position, request(order_by=order_by), ("a",))
    assert token
    assert request(token=token, order_by=order_by).after == position


def forged(order_by: str, kind: str, value: str, key: object = 1) -> str:
    """A token with the mark of the list and any other content."""
    real = next_page_token((WHEN, 7), request(order_by=order_by), ("a",))
    mark = json.loads(base64.urlsafe_b64decode(real + "=" * (-len(real) % 4)))[0]
    return base64.urlsafe_b64encode(json.dumps([mark, kind, value, key]).encode()).decode()


@pytest.mark.parametrize(
    ("order_by", "kind", "value", "key"),
    [
        ("", "t", "0001-01-01T00:00:00+23:59", 1),
        ("", "t", "9999-12-31T23:59:59-23:59", 1),
        ("", "t", "2026-03-01T12:00:00", 1),
        ("", "t", "x", 1),
        ("", "s", "2026-03-01T12:00:00+00:00", 1),
        ("", "x", "2026-03-01T12:00:00+00:00", 1),
        ("", "t", "2026-03-01T12:00:00+00:00", 1 << 31),
        ("", "t", "2026-03-01T12:00:00+00:00", "one"),
        ("displayName", "t", "2026-03-01T12:00:00+00:00", 1),
        ("displayName", "s", "\0", 1),
        ("displayName", "s", "\ud800", 1),
    ],
)
def test_a_forged_token_with_the_right_mark_is_refused(
    order_by: str, kind: str, value: str, key: object
) -> None:
    with pytest.raises(ApiError, match="pageToken"):
        request(token=forged(order_by, kind, value, key), order_by=order_by)


def test_a_moment_in_another_zone_becomes_utc() -> None:
    after = request(token=forged("", "t", "2026-03-01T14:00:00+02:00")).after
    assert after == (datetime(2026, 3, 1, 12, tzinfo=UTC), 1)
    assert isinstance(after[0], datetime) and after[0].tzinfo is UTC


def test_the_last_page_has_no_token() -> None:
    assert next_page_token(None, request()) == ""


@pytest.mark.parametrize(
    "token",
    [
        "x",
        "%%%",
        "ü",
        "e30",
        base64.urlsafe_b64encode(b'["a","t","now",1]').decode(),
        base64.urlsafe_b64encode(b'["a","s","x",1e999]').decode(),
        base64.urlsafe_b64encode(b"[" * 4000).decode(),
    ],
)
def test_nonsense_is_no_page_token(token: str) -> None:
    with pytest.raises(ApiError, match="pageToken"):
        request(token=token)


def test_a_token_is_good_for_its_own_list_only() -> None:
    token = next_page_token((WHEN, 7), request(), ("a",))
    with pytest.raises(ApiError, match="another list"):
        request(token=token, context=("b",))
    with pytest.raises(ApiError, match="another list"):
        request(token=token, order_by="createTime")


def test_page_sizes_are_bounded() -> None:
    assert request().size == 50
    assert request(size=7).size == 7
    assert request(size=10**30).size == 1000
    with pytest.raises(ApiError, match="pageSize"):
        request(size=-1)


@pytest.mark.parametrize(
    ("text", "field", "descending"),
    [
        ("", "created", True),
        ("createTime", "created", False),
        ("create_time desc", "created", True),
        ("displayName  DESC", "display_name", True),
        ("displayName asc", "display_name", False),
    ],
)
def test_orders(text: str, field: str, descending: bool) -> None:
    found = request(order_by=text)
    assert (found.field, found.descending) == (field, descending)


@pytest.mark.parametrize("text", ["size", "createTime up", "createTime desc, displayName", "a b c"])
def test_unknown_orders_are_refused(text: str) -> None:
    with pytest.raises(ApiError, match="orderBy"):
        request(order_by=text)


def test_etags_come_with_and_without_the_quotes_of_http() -> None:
    assert expected_etag("abc", '"abc"') == "abc"
    assert expected_etag("", 'W/"abc"') == "abc"
    assert expected_etag(None, "*") is None
    assert expected_etag("", None) is None
    with pytest.raises(ApiError, match="differ"):
        expected_etag("abc", '"def"')


@pytest.mark.parametrize(
    "text",
    ["a", "...", " a ", "a+b%20c&d#e?f,g:h@i", "e\u0301", "\u00e9", "ALL_HOSTS", "ü" * 100, "\\"],
)
def test_ids_are_any_text_of_one_line(text: str) -> None:
    assert check_id(text) == text


@pytest.mark.parametrize(
    "text", ["", ".", "..", "a/b", "/", "a\nb", "\0", "\x7f", "\ud800", "ü" * 100 + "a"]
)
def test_other_ids_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="id"):
        check_id(text)


def test_field_names_in_both_spellings() -> None:
    assert to_snake("storageFolderUri") == to_snake("storage_folder_uri") == "storage_folder_uri"
    assert to_camel("storage_folder_uri") == to_camel("storageFolderUri") == "storageFolderUri"
