"""What the pages offer to whoever makes or changes a link: what the sharing rules allow, and why not more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from auth.links import LinkAccess
from auth.sharing_rules import SharingRules

_DAY = 86_400
_NEVER = "never"
_LIFETIMES: Sequence[tuple[float, str]] = (
    (1 / 24, "1 hour"),
    (1, "1 day"),
    (7, "7 days"),
    (14, "14 days"),
    (30, "30 days"),
    (90, "90 days"),
    (365, "1 year"),
)
_AUDIENCES = (
    (LinkAccess.UNLISTED, "Everybody who has the link"),
    (LinkAccess.ORG, "People who can sign in here"),
)


@dataclass(frozen=True)
class Offer:
    """What may be chosen.

    Attributes:
        audiences: values of `LinkAccess` and what they mean.
        usual_audience: the one that is chosen at first.
        lifetimes: texts that `auth.links.parse_lifetime` reads, and what they mean.
        usual_lifetime: the one that is chosen at first.
        reasons: sentences about what is not offered.
        needs_password: whether a link for everybody must have one.
        must_hide_names: whether a link for everybody must hide names.
    """

    audiences: tuple[tuple[str, str], ...]
    usual_audience: str
    lifetimes: tuple[tuple[str, str], ...]
    usual_lifetime: str
    reasons: tuple[str, ...]
    needs_password: bool
    must_hide_names: bool


def make_offer(rules: SharingRules, link_days: float) -> Offer:
    """What the rules allow.

    Args:
        rules: of this moment.
        link_days: days until a link ends where neither its maker nor the rules say so.
    """
    usual = link_days if rules.default_days is None else rules.default_days
    longest = rules.longest_days
    usual = usual if longest is None else min(usual, longest)
    days = {length: text for length, text in _LIFETIMES if longest is None or length <= longest}
    for length in (usual, longest):
        if length is not None:
            days.setdefault(length, f"{length:g} days")
    lifetimes = [(_lifetime(length), days[length]) for length in sorted(days)]
    if longest is None:
        lifetimes.append((_NEVER, "Never"))
    return Offer(
        audiences=tuple(
            (access.value, text)
            for access, text in _AUDIENCES
            if rules.allow_unlisted or access is LinkAccess.ORG
        ),
        usual_audience=rules.usual_access.value,
        lifetimes=tuple(lifetimes),
        usual_lifetime=_lifetime(usual),
        reasons=tuple(_reasons(rules)),
        needs_password=rules.allow_unlisted and rules.unlisted_needs_password,
        must_hide_names=rules.allow_unlisted and rules.unlisted_redacted_only,
    )


def _lifetime(days: float) -> str:
    whole = round(days * _DAY)
    return f"{whole // _DAY}d" if whole % _DAY == 0 else f"{max(whole, 1)}s"


def _reasons(rules: SharingRules) -> list[str]:
    found = []
    if not rules.allow_unlisted:
        found.append("Links that let in everybody who has them are not allowed here.")
    elif rules.unlisted_needs_password:
        found.append("Links for everybody must have a password here.")
    if rules.allow_unlisted and rules.unlisted_redacted_only:
        found.append("Links for everybody must hide names here.")
    if rules.longest_days is not None:
        found.append(f"Links end after {rules.longest_days:g} days at the latest here.")
    return found
