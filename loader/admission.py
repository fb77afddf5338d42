"""Who may convert now: so many at once as cores and memory allow, people first, small before huge.

Knows nothing of profiles: a conversion is what it needs, and for whom it is.
"""

from __future__ import annotations

from enum import StrEnum


class Urgency(StrEnum):
    """For whom an answer is made."""

    PERSON = "person"
    """Somebody waits for it."""
    PREWARM = "prewarm"
    """Nobody does yet; it may wait, and be given up."""
