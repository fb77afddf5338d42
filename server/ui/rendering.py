"""Where the templates of all pages are read, and that every text in them is escaped."""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined


def open_templates(*, trims: bool = False) -> Environment:
    """The templates of this package; a name that none was given for is an error.

    Args:
        trims: whether lines that hold nothing but instructions leave no line behind.
    """
    return Environment(
        loader=PackageLoader("server.ui", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=trims,
        lstrip_blocks=trims,
    )


@cache
def templates(*, trims: bool = False) -> Environment:
    """The same, opened once."""
    return open_templates(trims=trims)
