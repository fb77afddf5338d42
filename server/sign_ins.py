"""What a front end needs to let people sign in, in one piece for `server.services`."""

from __future__ import annotations

from dataclasses import dataclass

from auth.browser_sessions import BrowserSeals
from server.sign_in_guesses import SignInGuesses


@dataclass(frozen=True)
class SignIns:
    """Made by `server.signed_in.open_sign_ins`.

    Attributes:
        seals: writes and reads what browsers keep.
        guesses: counts wrong tokens.
    """

    seals: BrowserSeals
    guesses: SignInGuesses
