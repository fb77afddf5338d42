"""What the states of a session are called on pages for people: the same words on all of them. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from server.registry.prewarm import PrewarmState
from server.registry.records import SessionKind

KIND_WORDS: Mapping[SessionKind, str] = MappingProxyType(
    {
        SessionKind.ATTACHED: "Attached",
        SessionKind.PROGRAMMATIC: "Captured by the job",
        SessionKind.ON_DEMAND: "Captured on demand",
        SessionKind.SCANNED: "Found where the job writes",
        SessionKind.UPLOADED: "Uploaded",
    }
)
"""How it came here."""
PREWARM_WORDS: Mapping[PrewarmState, tuple[str, str]] = MappingProxyType(
    {
        PrewarmState.WAITING: ("Waits to be converted", "quiet"),
        PrewarmState.RUNNING: ("Being converted", "accent"),
        PrewarmState.DONE: ("Opens at once", "good"),
        PrewarmState.CANCELLED: ("Conversion cancelled", "quiet"),
        PrewarmState.FAILED: ("Conversion failed", "warn"),
        PrewarmState.SKIPPED: ("Converted when opened", "quiet"),
    }
)
"""How far converting in advance is, and the kind of badge."""
