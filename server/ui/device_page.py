"""The page on which somebody lets a program in. A program's name for itself is escaped."""

from __future__ import annotations

from dataclasses import dataclass

from server.ui.inline_style import inline_style
from server.ui.rendering import templates
from server.ui.shell import Message

ALLOWED = Message(
    "It is signed in",
    "The program that showed the code acts as you from now on.",
    "Go back to it. To end that, revoke its token (xprof-hub tokens list), or yours.",
)
REFUSED = Message(
    "It was refused",
    "The program that showed the code stays outside.",
    "Somebody sent you the code? Then somebody wanted to act as you.",
)


@dataclass(frozen=True)
class DevicePage:
    """What stands there.

    Attributes:
        person: who has signed in.
        role: how much they may do.
        code: of the program that asks; empty to ask for one.
        client: what that program calls itself.
        problem: what was wrong with the code, or with the token for it, before.
        asks_token: whether letting it in takes an API token, or a click.
    """

    person: str
    role: str
    code: str = ""
    client: str = ""
    problem: str = ""
    asks_token: bool = True


def render_device_page(page: DevicePage, action: str) -> str:
    """The page.

    Args:
        page: what stands there.
        action: where its form goes.
    """
    template = templates().get_template("device.html")
    return template.render(page=page, action=action, style=inline_style())
