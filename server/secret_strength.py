"""Whether a secret key keeps strangers out: it is all that workers, sign-ins and passwords' seals rely on.

Whoever sees one sealed cookie can try keys for it at home, as fast as his machines are. Looks at keys only;
which ones there are is the settings' matter.
"""

from __future__ import annotations

SHORTEST_KEY = 32
"""Fewest characters: 128 bits as hexadecimal digits, 190 as `openssl rand -base64 32` writes them."""
_FEWEST_CHARACTERS = 8
"""Fewest different ones: 32 random hexadecimal digits have fewer once in twenty million keys."""
HOW_TO_MAKE_ONE = "Make one with: openssl rand -base64 32"


def weakness_of(key: str) -> str | None:
    """Why a key can be guessed, as what follows "it"; None when that can't be seen of it.

    Never repeats any of the key.
    """
    if len(key) < SHORTEST_KEY:
        return f"has {len(key)} characters and needs at least {SHORTEST_KEY}"
    if len(set(key)) < _FEWEST_CHARACTERS:
        return "has hardly any different characters"
    return None
