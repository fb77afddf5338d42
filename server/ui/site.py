"""The pages of people who have signed in: one frame around all, templates inside it.

Names come from jobs and people: Jinja2 escapes every one. This module knows no request and no database.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from jinja2 import Environment

from server.ui import words
from server.ui.rendering import open_templates


@dataclass(frozen=True)
class Frame:
    """What stands around a page.

    Attributes:
        prefix: path prefix of the hub, without trailing slash.
        assets: path of our static files, with a slash at the end.
        person: name of who has signed in.
        role: value of their `auth.identity.Role`.
        has_signed_in: whether there is something to sign out of.
        rights: values of the `auth.policy.Action`s that the person may do at all.
    """

    prefix: str
    assets: str
    person: str
    role: str
    has_signed_in: bool
    rights: frozenset[str]


def render_page(template: str, frame: Frame, **values: object) -> str:
    """A page, or the part of one that a template makes by itself.

    Args:
        template: name of its file in `templates/site/`.
        frame: what stands around it.
        values: what the template names.
    """
    return _templates().get_template(f"site/{template}").render(frame=frame, **values)


@cache
def _templates() -> Environment:
    templates = open_templates(trims=True)
    templates.filters.update(
        moment=words.moment,
        machine_moment=words.machine_moment,
        size=words.size,
        duration=words.duration,
        number=words.number,
    )
    return templates
