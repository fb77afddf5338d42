"""What is offered to whoever makes a link: what the sharing rules allow, the usual chosen, the rest told."""

from __future__ import annotations

import pytest

from auth.links import LinkAccess, parse_lifetime
from auth.sharing_rules import SharingRules
from server.share_pages.offers import Offer, make_offer

FREE = ["3600s", "1d", "7d", "14d", "30d", "90d", "365d", "never"]


def lifetimes(offer: Offer) -> list[str]:
    """Each can be read, and the usual one is among them."""
    values = [value for value, _ in offer.lifetimes]
    assert [parse_lifetime(value) is None for value in values] == [
        value == "never" for value in values
    ]
    assert offer.usual_lifetime in values
    assert offer.usual_audience in dict(offer.audiences)
    return values


def test_without_rules_everything_is_offered() -> None:
    offer = make_offer(SharingRules(), 30)
    assert lifetimes(offer) == FREE
    assert offer.usual_lifetime == "30d"
    assert [value for value, _ in offer.audiences] == ["UNLISTED", "ORG"]
    assert (offer.usual_audience, offer.reasons) == ("UNLISTED", ())
    assert not offer.needs_password
    assert not offer.must_hide_names


@pytest.mark.parametrize(
    ("longest", "usual", "link_days", "values", "chosen"),
    [
        (14, None, 30, FREE[:4], "14d"),
        (10, None, 30, [*FREE[:3], "10d"], "10d"),
        (10, 2, 30, ["3600s", "1d", "2d", "7d", "10d"], "2d"),
        (0.5, None, 30, ["3600s", "43200s"], "43200s"),
        (0.01, None, 30, ["864s"], "864s"),
        (None, 45, 30, [*FREE[:5], "45d", *FREE[5:]], "45d"),
        (None, None, 1.5, [*FREE[:2], "129600s", *FREE[2:]], "129600s"),
    ],
)
def test_no_longer_life_is_offered_than_is_allowed(
    longest: float | None,
    usual: float | None,
    link_days: float,
    values: list[str],
    chosen: str,
) -> None:
    offer = make_offer(SharingRules(longest_days=longest, default_days=usual), link_days)
    assert lifetimes(offer) == values
    assert offer.usual_lifetime == chosen
    assert bool(offer.reasons) == (longest is not None)


def test_what_everybody_may_open_is_as_the_rules_say() -> None:
    closed = make_offer(SharingRules(allow_unlisted=False, unlisted_needs_password=True), 30)
    assert [value for value, _ in closed.audiences] == ["ORG"]
    assert closed.usual_audience == "ORG"
    assert not closed.needs_password
    assert len(closed.reasons) == 1
    strict = make_offer(SharingRules(unlisted_needs_password=True, unlisted_redacted_only=True), 30)
    assert strict.needs_password
    assert strict.must_hide_names
    assert len(strict.reasons) == 2
    usual = make_offer(SharingRules(default_access=LinkAccess.ORG), 30)
    assert usual.usual_audience == "ORG"
