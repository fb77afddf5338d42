"""Looking for an answer where somebody counts how often that helps."""

from __future__ import annotations

from collections.abc import Callable

from loader.caches.results import OpenResult
from loader.observing import CacheLayer, Lookup

Look = Callable[[str], OpenResult | None]
"""Gives what is kept under a key, as `ResultStore.open`."""


def counted(
    look: Look,
    layer: CacheLayer,
    looked_up: Callable[[CacheLayer, Lookup], None],
    is_failing: Callable[[], bool] = lambda: False,
) -> Look:
    """The same look, of which somebody is told.

    Args:
        look: into one store.
        layer: what that store is.
        looked_up: told of each look.
        is_failing: whether the store, which then finds nothing, is out of order.
    """

    def look_and_tell(key: str) -> OpenResult | None:
        found = look(key)
        looked_up(layer, outcome_of(found is not None, is_failing))
        return found

    return look_and_tell


def outcome_of(is_found: bool, is_failing: Callable[[], bool]) -> Lookup:
    """What came of a look into a store that finds nothing while it is out of order."""
    if is_found:
        return Lookup.HIT
    return Lookup.FAILED if is_failing() else Lookup.MISS
