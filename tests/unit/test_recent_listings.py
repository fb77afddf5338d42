"""A page that asks every second does not list the bucket every second."""

from __future__ import annotations

from loader.catalog import HostFile, SessionFiles
from loader.storage.base import StoredFile
from server.sessions.recent_listings import RecentListings


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def listing(location: str, hosts: int, generation: str = "1") -> SessionFiles:
    names = [f"h{index}" for index in range(hosts)]
    files = [StoredFile(f"{location}/{name}", name, 10, generation) for name in names]
    rows = tuple(HostFile(name, file) for name, file in zip(names, files, strict=True))
    return SessionFiles((location,), rows)


def test_a_listing_is_good_for_some_seconds() -> None:
    clock = Clock()
    recent, files = RecentListings(10, 100, clock), listing("/a", 2)
    assert recent.recall(("/a",)) is None
    recent.note(files)
    clock.now += 10
    assert recent.recall(("/a",)) is files
    clock.now += 0.1
    assert recent.recall(("/a",)) is None


def test_the_newest_listing_counts() -> None:
    recent, newer = RecentListings(), listing("/a", 3, "2")
    recent.note(listing("/a", 2))
    recent.note(newer)
    assert recent.recall(("/a",)) is newer
    assert recent.recall(("/b",)) is None


def test_the_oldest_are_forgotten_when_there_are_too_many_hosts() -> None:
    recent = RecentListings(most_hosts=10)
    for name, hosts in (("/a", 4), ("/b", 4), ("/a", 5), ("/c", 4)):
        recent.note(listing(name, hosts))
    assert [recent.recall((name,)) is not None for name in ("/a", "/b", "/c")] == [
        True,
        False,
        True,
    ]
    recent.note(listing("/huge", 11))
    assert all(recent.recall((name,)) is None for name in ("/a", "/b", "/c", "/huge"))
