"""What an administrator allows share links to be; counts for links that are made and for those that exist.

Pure values: who keeps the rules, and who may change them, is decided elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from auth.links import LinkAccess, ShareLink


class Breach(StrEnum):
    """Which rule a link breaks."""

    UNLISTED = "unlisted"
    """It lets in everybody who has it."""
    PASSWORD = "password"  # noqa: S105 - a word
    """It does so without asking for a password."""
    REDACTED = "redacted"
    """It does so, and shows names and texts of the profile."""


@dataclass(frozen=True)
class SharingRules:
    """The rules; as they are made here, everything is allowed.

    Attributes:
        allow_unlisted: whether a link may let in everybody who has it.
        longest_days: days after its creation at which every link ends, or None for no such end.
        unlisted_needs_password: whether such a link must ask for a password.
        unlisted_redacted_only: whether such a link must show pseudonyms.
        default_access: whom a new link lets in, unless its maker says so.
        default_days: days until a new link ends, unless its maker says so; None for the deployment's setting.
    """

    allow_unlisted: bool = True
    longest_days: float | None = None
    unlisted_needs_password: bool = False
    unlisted_redacted_only: bool = False
    default_access: LinkAccess = LinkAccess.UNLISTED
    default_days: float | None = None

    @property
    def usual_access(self) -> LinkAccess:
        """Whom a new link lets in by itself: never more than is allowed."""
        return self.default_access if self.allow_unlisted else LinkAccess.ORG

    def breach_by(self, link: ShareLink) -> Breach | None:
        """The rule that a link breaks, whatever its age; None for a link that is allowed."""
        return self.breach(
            link.access, has_password=link.has_password, is_redacted=link.is_redacted
        )

    def breach(self, access: LinkAccess, *, has_password: bool, is_redacted: bool) -> Breach | None:
        """The same for a link that is still to be made."""
        if access is not LinkAccess.UNLISTED:
            return None
        if not self.allow_unlisted:
            return Breach.UNLISTED
        if self.unlisted_needs_password and not has_password:
            return Breach.PASSWORD
        return Breach.REDACTED if self.unlisted_redacted_only and not is_redacted else None

    def last_end(self, created: datetime) -> datetime | None:
        """When a link of this age ends at the latest, or None."""
        return None if self.longest_days is None else created + timedelta(days=self.longest_days)

    def end_of(self, created: datetime, expires: datetime | None) -> datetime | None:
        """When a link ends: its own end, or the last one that is allowed."""
        ends = [end for end in (expires, self.last_end(created)) if end is not None]
        return min(ends, default=None)

    def usual_end(self, now: datetime, otherwise: float) -> datetime | None:
        """When a new link ends whose maker says nothing.

        Args:
            now: UTC.
            otherwise: days where the rules name none.
        """
        days = otherwise if self.default_days is None else self.default_days
        return self.end_of(now, now + timedelta(days=days))
