"""Op metadata that refers to other op metadata: no cycle, and no blow-up when it is followed.

XProf 2.24.2 follows every child reference, recursively: 84 bytes make it overflow its stack, 756 bytes make
it use 3 GB (measured). Used by the inspection only.
"""

from __future__ import annotations

from collections.abc import Iterable

from loader.errors import ErrorCode, LoaderError
from loader.inspection.limits import InspectionLimits
from loader.inspection.refusals import too_large
from loader.inspection.wire import signed


class Ops:
    """The child references of one plane's op metadata."""

    def __init__(self, limits: InspectionLimits) -> None:
        self._children: dict[int, list[int]] = {}
        self._limits = limits
        self._left = limits.children

    def add(self, references: Iterable[int], children: list[int]) -> None:
        """Adds references, as the numbers they are on the wire, to the children of one op.

        Raises:
            LoaderError: TOO_LARGE when the plane has too many.
        """
        for reference in references:
            self._left -= 1
            if self._left < 0:
                raise too_large(
                    f"its op metadata has more than {self._limits.children:,} child references"
                )
            children.append(signed(reference))

    def note(self, op: int, children: list[int]) -> None:
        """Takes the children of one op; of two ops with one key, the later one counts."""
        self._children.pop(op, None)
        if children:
            self._children[op] = children

    def check(self) -> None:
        """Refuses op metadata that contains itself, or that grows beyond all bounds when followed.

        Raises:
            LoaderError: MALFORMED for a cycle, TOO_LARGE for the rest.
        """
        finished: dict[int, int] = {}  # ops, with how many they unfold to
        for root, below in self._children.items():
            if root in finished:
                continue
            path = {root: iter(below)}
            while path:
                op, rest = next(reversed(path.items()))
                unfinished = next(
                    (c for c in rest if c in self._children and c not in finished), None
                )
                if unfinished is None:
                    path.popitem()
                    finished[op] = self._unfolded(op, finished)
                elif unfinished in path:
                    raise _cycle()
                elif len(path) >= self._limits.child_depth:
                    raise too_large(
                        f"its op metadata is nested deeper than {self._limits.child_depth:,} levels"
                    )
                else:
                    path[unfinished] = iter(self._children[unfinished])

    def _unfolded(self, op: int, finished: dict[int, int]) -> int:
        """How many ops it is with all below it, which are finished."""
        total = 1 + sum(finished.get(child, 1) for child in self._children[op])
        if total > self._limits.expanded_children:
            raise too_large(f"its op metadata unfolds to more than {total - 1:,} ops")
        return total


def _cycle() -> LoaderError:
    return LoaderError(
        ErrorCode.MALFORMED,
        "This profile can't be converted: its op metadata contains a cycle, so an op is part of itself. "
        "Capture again, with a newer profiler if it happens again.",
    )
