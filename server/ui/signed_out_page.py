"""The page that says that somebody is signed out, and where perhaps not yet. Knows no request."""

from __future__ import annotations

from dataclasses import dataclass

from server.ui.inline_style import inline_style
from server.ui.rendering import templates


@dataclass(frozen=True)
class SignedOutPage:
    """What stands there.

    Attributes:
        sign_in: path of the page to sign in.
        provider: host of the provider where people sign in, or empty.
        provider_href: where one signs out of it, or empty where it offers that nowhere.
        is_out_of_provider: whether one comes from doing so.
        proxy_href: where one signs out of Google's proxy, or empty where there is none.
    """

    sign_in: str
    provider: str = ""
    provider_href: str = ""
    is_out_of_provider: bool = False
    proxy_href: str = ""


def render_signed_out(page: SignedOutPage) -> str:
    """The page as HTML."""
    template = templates(trims=True).get_template("signed_out.html")
    return template.render(page=page, style=inline_style())
