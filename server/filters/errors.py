"""What is wrong with a filter, and where."""

from __future__ import annotations


class FilterError(Exception):
    """A text that is no filter.

    Attributes:
        position: of the first character at fault, from 0.
        message: what was expected there; a sentence.
    """

    def __init__(self, position: int, message: str) -> None:
        super().__init__(message)
        self.position = position
        self.message = message
