"""The secrets that what browsers keep is sealed with."""

from __future__ import annotations

import secrets
from typing import NamedTuple

from server.settings import KNOWN_SECRETS, Settings


class SealingSecrets(NamedTuple):
    """Arguments of every `auth.sealing.Seal`, but for its purpose.

    Attributes:
        secret: what new texts are sealed with.
        accepted: others whose texts are read, too.
    """

    secret: str
    accepted: tuple[str, ...]


def sealing_secrets(settings: Settings) -> SealingSecrets:
    """The deployment's secrets; instead of the default, which everybody knows, a random one.

    With that what browsers keep is good until the front end ends.
    """
    is_secret = settings.secret_key not in KNOWN_SECRETS
    current = settings.secret_key if is_secret else secrets.token_urlsafe(32)
    return SealingSecrets(current, settings.accepted_secret_keys)
