"""Folders that have more than one name: what a session reaches by a symbolic link.

Only asked where profiles themselves are removed: a name that nobody compares with is a profile lost.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from loader.storage.address import is_gcs


def real_places(locations: Iterable[str]) -> frozenset[str]:
    """Where the folders and files really lie that are named by way of a link; looks at the disk."""
    found = set()
    for location in locations:
        place = location.rstrip("/")
        if not is_gcs(place) and (real := os.path.realpath(place)) != place:
            found.add(real)
    return frozenset(found)
