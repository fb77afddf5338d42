"""When links and tokens end: what a client may write, and when it takes effect."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from auth.links import parse_lifetime
from server.http.errors import ApiError
from server.links.lifetimes import expiry, state_at
from server.schemas import Lifetime

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
MONTH = timedelta(days=30)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1s", 1),
        ("30m", 1800),
        ("12h", 43_200),
        ("7d", 604_800),
        ("2w", 1_209_600),
        ("604800s", 604_800),
    ],
)
def test_lifetimes_are_a_number_and_a_unit(text: str, seconds: int) -> None:
    assert parse_lifetime(text) == timedelta(seconds=seconds)


def test_never_is_no_lifetime() -> None:
    assert parse_lifetime("never") is None


@pytest.mark.parametrize(
    "text",
    ["", "7", "d", "-1d", "0d", "1.5d", "7 d", "7y", "\u0661d", "99999999w", "4000d", "7d\n8"],
)
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"never|ten years"):
        parse_lifetime(text)


def test_a_link_lives_thirty_days_unless_told_otherwise() -> None:
    assert expiry(Lifetime(), NOW, MONTH) == NOW + MONTH
    assert expiry(Lifetime(ttl="7d"), NOW, MONTH) == NOW + timedelta(days=7)
    assert expiry(Lifetime(never=True), NOW, MONTH) is None
    assert expiry(Lifetime(ttl="never"), NOW, MONTH) is None
    later = NOW + timedelta(hours=1)
    assert expiry(Lifetime(expire_time=later), NOW, MONTH) == later


@pytest.mark.parametrize(
    ("wanted", "field"),
    [
        (Lifetime(expire_time=NOW), "expireTime"),
        # These have no date in UTC, or in some other zone that a database may be set to.
        (Lifetime.model_validate({"expireTime": "9999-12-31T23:59:59-23:59"}), "expireTime"),
        (Lifetime.model_validate({"expireTime": "9999-12-31T23:59:59Z"}), "expireTime"),
        (Lifetime.model_validate({"expireTime": "0001-01-01T00:00:00+23:59"}), "expireTime"),
        (Lifetime(ttl="soon"), "ttl"),
        (Lifetime(ttl="7d", never=True), "ttl"),
    ],
)
def test_a_refusal_names_the_field(wanted: Lifetime, field: str) -> None:
    with pytest.raises(ApiError) as caught:
        expiry(wanted, NOW, MONTH)
    assert caught.value.answer.http == 400
    assert caught.value.details[0]["field"] == field


def test_a_state_changes_at_the_very_moment_of_expiry() -> None:
    moment = timedelta(microseconds=1)
    assert state_at(NOW - moment, NOW, None) == "ACTIVE"
    assert state_at(NOW, NOW, None) == "EXPIRED"
    assert state_at(NOW + moment, NOW, None) == "EXPIRED"
    assert state_at(NOW, None, None) == "ACTIVE"
    assert state_at(NOW, NOW, NOW) == "REVOKED"
