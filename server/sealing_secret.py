"""The secret that what browsers keep is sealed with."""

from __future__ import annotations

import secrets

from server.settings import DEFAULT_SECRET, Settings


def sealing_secret(settings: Settings) -> str:
    """The deployment's secret; instead of the default, which everybody knows, a random one.

    With that what browsers keep is good until the front end ends.
    """
    is_secret = settings.secret_key != DEFAULT_SECRET
    return settings.secret_key if is_secret else secrets.token_urlsafe(32)
