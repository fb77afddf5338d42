"""How far an answer is, as JSON."""

from __future__ import annotations

from typing import Literal

from loader.coordination.progress import Phase
from server.schemas.base import ApiModel


class AnswerProgress(ApiModel):
    """How far an answer is."""

    state: Literal["idle", "running", "ready"]
    """`idle`: nobody is known to make it. `ready`: it, or the reason why it can't be made, is there."""
    phase: Phase | None = None
    """What is being done while it is `running`."""
    seconds: float = 0.0
    """Since the work began."""
    ahead: int = 0
    """While waiting: conversions that go first."""
    done_bytes: int = 0
    """Of `totalBytes`: what this phase has dealt with."""
    total_bytes: int = 0
    """0 when nobody can say."""
