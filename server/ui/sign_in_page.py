"""The page to sign in, and what it says when that leads nowhere. Knows no request and no database."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from auth.oidc import SignInRefusal
from server.ui.inline_style import inline_style
from server.ui.rendering import templates

REFUSALS: Mapping[SignInRefusal, str] = MappingProxyType(
    {
        SignInRefusal.STALE: "This sign-in was not begun in this browser, took longer than 15 minutes, or is "
        "over already. Begin again.",
        SignInRefusal.DENIED: "The provider did not let you in, or you did not agree to what it asked. "
        "Begin again, and agree, or ask whoever runs the provider for access.",
        SignInRefusal.PROVIDER_ERROR: "The provider refused this hub. Whoever runs the hub has to look at "
        "how it is registered there; the hub's log says more.",
        SignInRefusal.UNAVAILABLE: "The provider does not answer as it should. Try again in a minute.",
        SignInRefusal.NOT_GENUINE: "What came back was not made by the provider for this sign-in, so nobody "
        "is signed in. Begin again; if that happens twice, tell whoever runs this hub.",
        SignInRefusal.CLOCK: "The provider's clock and the clock of this hub are too far apart. Whoever runs "
        "this hub has to set its clock.",
        SignInRefusal.NO_EMAIL: "The provider tells no e-mail address of yours. Whoever runs this hub has to "
        "ask it for one (XPROF_HUB_OIDC_SCOPES).",
        SignInRefusal.NOT_VERIFIED: "The provider has not verified that your e-mail address is yours. Verify "
        "it there, then begin again.",
    }
)
"""What to do, for each way in which signing in at a provider can fail."""


@dataclass(frozen=True)
class SignInPage:
    """What the page shows.

    Attributes:
        action: where the form with a token goes.
        back: where to go on afterwards.
        problem: what was wrong with the token before.
        provider: host of the provider where people sign in, or empty.
        provider_href: path that leads there.
        refusal: why signing in with the provider, or without anything, led nowhere.
        is_for_link: whether somebody has opened a link that asks for people.
    """

    action: str
    back: str
    problem: str = ""
    provider: str = ""
    provider_href: str = ""
    refusal: str = ""
    is_for_link: bool = False


def render_sign_in(page: SignInPage) -> str:
    """The page as HTML."""
    return (
        templates(trims=True).get_template("sign_in.html").render(page=page, style=inline_style())
    )
