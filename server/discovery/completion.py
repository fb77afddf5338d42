"""Whether a session's hosts are all there. Pure; who looks, and what follows, is told elsewhere."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from loader.catalog import HostFile
from server.discovery.schedule import SETTLE
from server.registry.records import ProfilerSession

UNCOUNTED = timedelta(minutes=2)
"""How long nothing must change where nobody said how many hosts there are."""
GIVEN_UP = timedelta(hours=1)
"""After this time without a change missing hosts are not waited for any longer."""


def expected_hosts(session: ProfilerSession) -> int | None:
    """How many hosts must come: what was said of their number, or of each of them; None when nobody said."""
    return max(session.expected_hosts or 0, len(session.targets)) or None


def is_complete(session: ProfilerSession, hosts: tuple[HostFile, ...], now: datetime) -> bool:
    """Whether a session with these files, noted in its `seen_changed`, is complete.

    Args:
        session: as it is after this look.
        hosts: its files.
        now: UTC.
    """
    if not hosts or session.seen_changed is None:
        return False
    quiet = max(now - session.seen_changed, _since_written(hosts, now))
    expected = expected_hosts(session)
    if quiet >= GIVEN_UP:
        return True
    if expected is None:
        return quiet >= UNCOUNTED and now - session.seen_changed >= SETTLE
    return len(hosts) >= expected and now - session.seen_changed >= SETTLE


def newest_change(hosts: tuple[HostFile, ...]) -> datetime | None:
    """When the newest file was written, if the store says so of all."""
    times = [entry.file.modified for entry in hosts]
    known = [time for time in times if time is not None]
    if not known or len(known) < len(times):
        return None
    return datetime.fromtimestamp(max(known), tz=UTC)


def _since_written(hosts: tuple[HostFile, ...], now: datetime) -> timedelta:
    """How old the newest file is; nothing when the store does not say or its clock is ahead."""
    newest = newest_change(hosts)
    return timedelta(0) if newest is None else max(now - newest, timedelta(0))
