"""The form of the sharing rules: what was typed, read once and shown again where it is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pydantic import ValidationError

from auth.links import LinkAccess
from auth.sharing_rules import SharingRules
from server.links.schemas import LONGEST_DAYS, SharingRulesFields

_NAMES = {"longestDays": "longest", "defaultDays": "usual", "defaultAccess": "access"}
_DAYS = f"Write a number of days up to {LONGEST_DAYS}, such as 14 or 0.5, or nothing."


@dataclass(frozen=True)
class RulesForm:
    """What stands in the form.

    Attributes:
        allows_unlisted: whether links may let in everybody who has them.
        needs_password: whether such links must have a password.
        hides_names: whether such links must hide names.
        longest: days after which every link ends, as typed.
        access: value of `LinkAccess` that new links have at first.
        usual: days until a new link ends unless its maker chooses, as typed.
        etag: names the state of the rules that was shown.
        problems: sentences by the names of fields.
    """

    allows_unlisted: bool
    needs_password: bool
    hides_names: bool
    longest: str
    access: str
    usual: str
    etag: str = ""
    problems: Mapping[str, str] = field(default_factory=dict)


def form_of(rules: SharingRules, etag: str) -> RulesForm:
    """The form as the rules are."""
    return RulesForm(
        allows_unlisted=rules.allow_unlisted,
        needs_password=rules.unlisted_needs_password,
        hides_names=rules.unlisted_redacted_only,
        longest=_text(rules.longest_days),
        access=rules.default_access.value,
        usual=_text(rules.default_days),
        etag=etag,
    )


def read_rules_form(fields: Mapping[str, str]) -> RulesForm:
    """What was sent."""
    return RulesForm(
        allows_unlisted="unlisted" in fields,
        needs_password="password" in fields,
        hides_names="hide" in fields,
        longest=fields.get("longest", "").strip(),
        access=fields.get("access", LinkAccess.UNLISTED.value),
        usual=fields.get("usual", "").strip(),
        etag=fields.get("etag", ""),
    )


def rules_of(form: RulesForm) -> SharingRules | RulesForm:
    """The rules that the form asks for, or the form with what is wrong with it."""
    values = {
        "allowUnlisted": form.allows_unlisted,
        "unlistedNeedsPassword": form.needs_password,
        "unlistedRedactedOnly": form.hides_names,
        "longestDays": form.longest or None,
        "defaultAccess": form.access,
        "defaultDays": form.usual or None,
    }
    try:
        read = SharingRulesFields.model_validate(values)
    except ValidationError as error:
        names = [str(problem["loc"][0]) for problem in error.errors() if problem["loc"]]
        found = {_NAMES.get(name, "other"): _DAYS for name in names}
        return replace(form, problems=found)
    return SharingRules(
        allow_unlisted=read.allow_unlisted,
        longest_days=read.longest_days,
        unlisted_needs_password=read.unlisted_needs_password,
        unlisted_redacted_only=read.unlisted_redacted_only,
        default_access=read.default_access,
        default_days=read.default_days,
    )


def _text(days: float | None) -> str:
    return "" if days is None else f"{days:g}"
