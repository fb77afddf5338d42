"""The forms by which links are made and changed: what was typed, read once and shown again where it is wrong.

What may be typed is `server.links.schemas`' matter, and what is allowed `server.links.making`'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pydantic import ValidationError

from auth.links import LinkAccess, ShareLink
from server.http.errors import ApiError
from server.http.masks import Mask
from server.links.schemas import LinkChange, NewLink
from server.share_pages.offers import Offer
from server.xprof.views import View, read_state

KEEP = "keep"
"""Lifetime of a link whose end stays as it is."""
_NEVER = "never"
_NAMES = {
    "ttl": "lifetime",
    "never": "lifetime",
    "expireTime": "lifetime",
    "mostOpens": "opens",
    "redacted": "hide",
    "view.module": "state",
    "view.op": "state",
    "view": "state",
}
"""Names of the API's fields, where the form has others."""
_FIELDS = frozenset({"access", "lifetime", "password", "opens", "hide", "note", "state"})
_WRONG = {
    "access": "Choose whom the link lets in.",
    "opens": "Write a whole number from 1 to a million, or nothing.",
    "lifetime": "Choose when the link ends.",
}
"""Where the schema's own words are no sentence for people."""


@dataclass(frozen=True)
class LinkForm:
    """What stands in the form.

    Attributes:
        access: value of `LinkAccess`.
        lifetime: as `auth.links.parse_lifetime` reads it, or `KEEP`.
        password: empty for none; of a link that has one, for the same.
        drops_password: whether a link that has a password shall have none any more.
        opens: how often it may be opened, as typed.
        hides_names: whether it shows pseudonyms.
        note: free text.
        state: query of the view that it shows first; empty for none.
        uses_state: whether it shows that first.
        problems: sentences by the names of fields.
    """

    access: str
    lifetime: str
    password: str = field(default="", repr=False)
    drops_password: bool = False
    opens: str = ""
    hides_names: bool = False
    note: str = ""
    state: str = ""
    uses_state: bool = True
    problems: Mapping[str, str] = field(default_factory=dict)

    @property
    def view(self) -> View:
        """What the address that led here shows."""
        return view_of(self.state)

    def refused(self, error: ApiError) -> LinkForm:
        """The form with what was wrong beside the fields that are at fault; `other` where it is none."""
        found = {
            _name(detail["field"]): detail["description"]
            for detail in error.details
            if "field" in detail
        }
        return replace(self, problems=found or {"other": error.message})


def new_form(offer: Offer, state: str) -> LinkForm:
    """The form before anything was typed.

    Args:
        offer: what may be chosen.
        state: query of the address that led here.
    """
    is_open = offer.usual_audience == LinkAccess.UNLISTED.value
    return LinkForm(
        access=offer.usual_audience,
        lifetime=offer.usual_lifetime,
        hides_names=offer.must_hide_names and is_open,
        state=state if view_of(state) != View() else "",
    )


def form_of(link: ShareLink) -> LinkForm:
    """The form by which a link is changed, as the link is."""
    return LinkForm(
        access=link.access.value,
        lifetime=KEEP,
        opens="" if link.most_opens is None else str(link.most_opens),
        hides_names=link.is_redacted,
        note=link.note,
    )


def read_link_form(fields: Mapping[str, str]) -> LinkForm:
    """What was sent."""
    return LinkForm(
        access=fields.get("access", ""),
        lifetime=fields.get("lifetime", ""),
        password=fields.get("password", ""),
        drops_password="drop" in fields,
        opens=fields.get("opens", "").strip(),
        hides_names="hide" in fields,
        note=fields.get("note", "").replace("\r\n", "\n").strip(),
        state=fields.get("state", ""),
        uses_state="use" in fields,
    )


def new_link_of(form: LinkForm) -> NewLink | LinkForm:
    """The link that the form asks for, or the form with what is wrong with it."""
    view = form.view.to_stored() if form.uses_state else {}
    values = {**_common(form), "redacted": form.hides_names, "view": view}
    try:
        return NewLink.model_validate(values)
    except ValidationError as error:
        return _with_problems(form, error)


def change_of(form: LinkForm) -> tuple[LinkChange, Mask] | LinkForm:
    """What the form changes of a link, or the form with what is wrong with it."""
    values = _common(form)
    changed = {"note", "access", "most_opens"}
    if form.lifetime != KEEP:
        changed |= {"ttl", "never"}
    if form.password or form.drops_password:
        changed.add("password")
    try:
        return LinkChange.model_validate(values), Mask(frozenset((name,) for name in changed))
    except ValidationError as error:
        return _with_problems(form, error)


def view_of(state: str) -> View:
    """The view that a query shows; an empty one where it shows none."""
    try:
        return read_state(state) if state else View()
    except ValueError:
        return View()


def _common(form: LinkForm) -> dict[str, object]:
    values: dict[str, object] = {"note": form.note, "access": form.access}
    if form.lifetime == _NEVER:
        values["never"] = True
    elif form.lifetime != KEEP:
        values["ttl"] = form.lifetime
    if form.password and not form.drops_password:
        values["password"] = form.password
    if form.opens:
        values["mostOpens"] = form.opens
    return values


def _with_problems(form: LinkForm, error: ValidationError) -> LinkForm:
    found: dict[str, str] = {}
    for problem in error.errors():
        name = _name(str(problem["loc"][0]) if problem["loc"] else "")
        said = problem["msg"].removeprefix("Value error, ")
        found.setdefault(name, _WRONG.get(name, said))
    return replace(form, problems=found)


def _name(of_api: str) -> str:
    name = _NAMES.get(of_api, of_api)
    return name if name in _FIELDS else "other"
