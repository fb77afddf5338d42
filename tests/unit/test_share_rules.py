"""What the rules of sharing say of a link, case by case."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from auth.links import (
    Active,
    Expired,
    Forbidden,
    FoundLink,
    LinkAccess,
    RunTarget,
    ShareLink,
    resolve,
)
from auth.sharing_rules import Breach, SharingRules
from auth.tokens import hash_token

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
DAY = timedelta(days=1)
LINK = ShareLink("l", RunTarget("r", "u"), NOW, None, None, 0, "", "me")
ORG, UNLISTED = LinkAccess.ORG, LinkAccess.UNLISTED


@pytest.mark.parametrize(
    ("rules", "access", "has_password", "is_redacted", "breach"),
    [
        (SharingRules(), UNLISTED, False, False, None),
        (SharingRules(allow_unlisted=False), UNLISTED, True, True, Breach.UNLISTED),
        (SharingRules(allow_unlisted=False), ORG, False, False, None),
        (SharingRules(unlisted_needs_password=True), UNLISTED, False, True, Breach.PASSWORD),
        (SharingRules(unlisted_needs_password=True), UNLISTED, True, False, None),
        (SharingRules(unlisted_needs_password=True), ORG, False, False, None),
        (SharingRules(unlisted_redacted_only=True), UNLISTED, True, False, Breach.REDACTED),
        (SharingRules(unlisted_redacted_only=True), UNLISTED, False, True, None),
        (SharingRules(unlisted_redacted_only=True), ORG, False, False, None),
    ],
)
def test_which_rule_a_link_breaks(
    rules: SharingRules,
    access: LinkAccess,
    has_password: bool,
    is_redacted: bool,
    breach: Breach | None,
) -> None:
    assert rules.breach(access, has_password=has_password, is_redacted=is_redacted) is breach
    password_hash = "scrypt$" if has_password else ""
    link = replace(LINK, access=access, password_hash=password_hash, is_redacted=is_redacted)
    assert rules.breach_by(link) is breach


def test_the_earlier_of_two_ends_counts() -> None:
    rules = SharingRules(longest_days=14)
    assert rules.end_of(NOW, None) == NOW + 14 * DAY
    assert rules.end_of(NOW, NOW + 3 * DAY) == NOW + 3 * DAY
    assert rules.end_of(NOW, NOW + 30 * DAY) == NOW + 14 * DAY
    assert SharingRules().end_of(NOW, None) is None


def test_what_a_maker_gets_who_says_nothing() -> None:
    assert SharingRules().usual_end(NOW, 30) == NOW + 30 * DAY
    assert SharingRules(default_days=7).usual_end(NOW, 30) == NOW + 7 * DAY
    assert SharingRules(longest_days=14).usual_end(NOW, 30) == NOW + 14 * DAY
    assert SharingRules().usual_access is UNLISTED
    assert SharingRules(default_access=ORG).usual_access is ORG
    assert SharingRules(allow_unlisted=False).usual_access is ORG


class OneLink:
    """A store with one link, and rules."""

    def __init__(self, link: ShareLink, rules: SharingRules) -> None:
        self.found = FoundLink(link, hash_token("t"), rules)

    def find_link(self, _digest: str) -> FoundLink:
        return self.found

    def add_link(self, link: ShareLink, _digest: str) -> ShareLink:
        return link

    def count_open(self, _link_id: str, _now: datetime) -> bool:
        return True


def test_a_token_opens_what_the_rules_of_the_moment_allow() -> None:
    rules = SharingRules(longest_days=14, unlisted_needs_password=True)
    link = replace(LINK, password_hash="scrypt$")
    last = NOW + 14 * DAY
    assert resolve(OneLink(link, rules), "t", NOW) == Active(replace(link, expires=last))
    assert resolve(OneLink(link, rules), "t", last) == Expired()
    assert resolve(OneLink(LINK, rules), "t", NOW) == Forbidden(Breach.PASSWORD)
