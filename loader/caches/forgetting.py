"""Forgetting all that was made of a session: what a store of answers or of artifact sets offers for it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol


class Forgets(Protocol):
    """A store whose keys begin with marks of sessions (`loader.keys.session_mark`)."""

    def forget(self, marks: Collection[str]) -> int:
        """Removes everything whose key begins with one of these marks; how many things there were.

        May be done again and by several at once. What is made meanwhile may stay.

        Raises:
            LoaderError: STORAGE_UNAVAILABLE or PERMISSION_DENIED; some may be gone, and some not.
        """
