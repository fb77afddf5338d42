"""What a filter says, as a tree: AIP-160's grammar without functions and bare words.

As AIP-160 has it, OR binds closer than AND: `a AND b OR c` is `a AND (b OR c)`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from server.filters.errors import FilterError
from server.filters.scanner import Scanner, Value

MAX_LENGTH = 2000
"""Longest filter, in characters."""
MAX_DEPTH = 16
"""How deep parentheses may be nested."""
MAX_RESTRICTIONS = 50
"""How many conditions a filter may have."""


@dataclass(frozen=True)
class Restriction:
    """One condition.

    Attributes:
        name: parts of the name on its left.
        comparator: `=`, `!=`, `<`, `<=`, `>`, `>=` or `:`.
        value: its right side.
        position: of the name.
        comparator_position: of the comparator.
    """

    name: tuple[str, ...]
    comparator: str
    value: Value
    position: int
    comparator_position: int


@dataclass(frozen=True)
class And:
    """All of them."""

    parts: tuple[Tree, ...]


@dataclass(frozen=True)
class Or:
    """At least one of them."""

    parts: tuple[Tree, ...]


@dataclass(frozen=True)
class Negation:
    """Not this."""

    part: Tree


Tree: TypeAlias = Restriction | And | Or | Negation


def parse(text: str) -> Tree | None:
    """The tree of a filter; None for an empty one.

    Raises:
        FilterError: it is none, or larger than is allowed.
    """
    if len(text) > MAX_LENGTH:
        raise FilterError(MAX_LENGTH, f"A filter has {MAX_LENGTH} characters at most.")
    scanner = Scanner(text)
    if scanner.at_end:
        return None
    tree = _Parser(scanner).expression(0)
    if not scanner.at_end:
        raise FilterError(scanner.position, "Write AND, OR or nothing here.")
    return tree


class _Parser:
    def __init__(self, scanner: Scanner) -> None:
        self._scanner = scanner
        self._count = 0

    def expression(self, depth: int) -> Tree:
        parts = [self._alternatives(depth)]
        while self._scanner.take_word("AND"):
            parts.append(self._alternatives(depth))
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _alternatives(self, depth: int) -> Tree:
        parts = [self._term(depth)]
        while self._scanner.take_word("OR"):
            parts.append(self._term(depth))
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def _term(self, depth: int) -> Tree:
        is_negated = self._scanner.take_word("NOT") or self._scanner.take("-")
        start = self._scanner.position
        if not self._scanner.take("("):
            found: Tree = self._restriction()
        elif depth == MAX_DEPTH:
            raise FilterError(start, f"Parentheses may be nested {MAX_DEPTH} deep at most.")
        else:
            found = self.expression(depth + 1)
            if not self._scanner.take(")"):
                raise FilterError(self._scanner.position, "Write AND, OR or ) here.")
        return Negation(found) if is_negated else found

    def _restriction(self) -> Restriction:
        position = self._scanner.position
        self._count += 1
        if self._count > MAX_RESTRICTIONS:
            message = f"A filter has {MAX_RESTRICTIONS} conditions at most."
            raise FilterError(position, message)
        name = self._scanner.name()
        comparator_position = self._scanner.position
        comparator = self._scanner.comparator()
        value = self._scanner.value()
        return Restriction(name, comparator, value, position, comparator_position)
